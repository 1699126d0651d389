-- Join Order Benchmark: schema.sql and fkindexes.sql of github.com/gregrahn/join-order-benchmark with generated data
CREATE TABLE aka_name (
    id integer NOT NULL PRIMARY KEY,
    person_id integer NOT NULL,
    name text NOT NULL,
    imdb_index character varying(12),
    name_pcode_cf character varying(5),
    name_pcode_nf character varying(5),
    surname_pcode character varying(5),
    md5sum character varying(32)
);
CREATE TABLE aka_title (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    title text NOT NULL,
    imdb_index character varying(12),
    kind_id integer NOT NULL,
    production_year integer,
    phonetic_code character varying(5),
    episode_of_id integer,
    season_nr integer,
    episode_nr integer,
    note text,
    md5sum character varying(32)
);
CREATE TABLE cast_info (
    id integer NOT NULL PRIMARY KEY,
    person_id integer NOT NULL,
    movie_id integer NOT NULL,
    person_role_id integer,
    note text,
    nr_order integer,
    role_id integer NOT NULL
);
CREATE TABLE char_name (
    id integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    imdb_index character varying(12),
    imdb_id integer,
    name_pcode_nf character varying(5),
    surname_pcode character varying(5),
    md5sum character varying(32)
);
CREATE TABLE comp_cast_type (
    id integer NOT NULL PRIMARY KEY,
    kind character varying(32) NOT NULL
);
CREATE TABLE company_name (
    id integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    country_code character varying(255),
    imdb_id integer,
    name_pcode_nf character varying(5),
    name_pcode_sf character varying(5),
    md5sum character varying(32)
);
CREATE TABLE company_type (
    id integer NOT NULL PRIMARY KEY,
    kind character varying(32) NOT NULL
);
CREATE TABLE complete_cast (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer,
    subject_id integer NOT NULL,
    status_id integer NOT NULL
);
CREATE TABLE info_type (
    id integer NOT NULL PRIMARY KEY,
    info character varying(32) NOT NULL
);
CREATE TABLE keyword (
    id integer NOT NULL PRIMARY KEY,
    keyword text NOT NULL,
    phonetic_code character varying(5)
);
CREATE TABLE kind_type (
    id integer NOT NULL PRIMARY KEY,
    kind character varying(15) NOT NULL
);
CREATE TABLE link_type (
    id integer NOT NULL PRIMARY KEY,
    link character varying(32) NOT NULL
);
CREATE TABLE movie_companies (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    company_id integer NOT NULL,
    company_type_id integer NOT NULL,
    note text
);
CREATE TABLE movie_info (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    info_type_id integer NOT NULL,
    info text NOT NULL,
    note text
);
CREATE TABLE movie_info_idx (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    info_type_id integer NOT NULL,
    info text NOT NULL,
    note text
);
CREATE TABLE movie_keyword (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    keyword_id integer NOT NULL
);
CREATE TABLE movie_link (
    id integer NOT NULL PRIMARY KEY,
    movie_id integer NOT NULL,
    linked_movie_id integer NOT NULL,
    link_type_id integer NOT NULL
);
CREATE TABLE name (
    id integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    imdb_index character varying(12),
    imdb_id integer,
    gender character varying(1),
    name_pcode_cf character varying(5),
    name_pcode_nf character varying(5),
    surname_pcode character varying(5),
    md5sum character varying(32)
);
CREATE TABLE person_info (
    id integer NOT NULL PRIMARY KEY,
    person_id integer NOT NULL,
    info_type_id integer NOT NULL,
    info text NOT NULL,
    note text
);
CREATE TABLE role_type (
    id integer NOT NULL PRIMARY KEY,
    role character varying(32) NOT NULL
);
CREATE TABLE title (
    id integer NOT NULL PRIMARY KEY,
    title text NOT NULL,
    imdb_index character varying(12),
    kind_id integer NOT NULL,
    production_year integer,
    imdb_id integer,
    phonetic_code character varying(5),
    episode_of_id integer,
    season_nr integer,
    episode_nr integer,
    series_years character varying(49),
    md5sum character varying(32)
);
INSERT INTO kind_type VALUES
  (1, 'movie'),
  (2, 'tv series'),
  (3, 'tv movie'),
  (4, 'video movie'),
  (5, 'tv mini series'),
  (6, 'video game'),
  (7, 'episode');
INSERT INTO company_type VALUES
  (1, 'distributors'),
  (2, 'production companies'),
  (3, 'special effects companies'),
  (4, 'miscellaneous companies');
INSERT INTO comp_cast_type VALUES
  (1, 'cast'),
  (2, 'crew'),
  (3, 'complete'),
  (4, 'complete+verified');
INSERT INTO role_type VALUES
  (1, 'actor'),
  (2, 'actress'),
  (3, 'producer'),
  (4, 'writer'),
  (5, 'cinematographer'),
  (6, 'composer'),
  (7, 'costume designer'),
  (8, 'director'),
  (9, 'editor'),
  (10, 'miscellaneous crew'),
  (11, 'production designer'),
  (12, 'guest');
INSERT INTO link_type VALUES
  (1, 'follows'),
  (2, 'followed by'),
  (3, 'remake of'),
  (4, 'remade as'),
  (5, 'references'),
  (6, 'referenced in'),
  (7, 'spoofs'),
  (8, 'spoofed in'),
  (9, 'features'),
  (10, 'featured in'),
  (11, 'spin off from'),
  (12, 'spin off'),
  (13, 'version of'),
  (14, 'similar to'),
  (15, 'edited into'),
  (16, 'edited from'),
  (17, 'alternate language version of'),
  (18, 'unknown link');
INSERT INTO info_type VALUES
  (1, 'runtimes'),
  (2, 'color info'),
  (3, 'genres'),
  (4, 'languages'),
  (5, 'certificates'),
  (6, 'sound mix'),
  (7, 'tech info'),
  (8, 'countries'),
  (9, 'taglines'),
  (10, 'keywords'),
  (11, 'alternate versions'),
  (12, 'crazy credits'),
  (13, 'goofs'),
  (14, 'soundtrack'),
  (15, 'quotes'),
  (16, 'release dates'),
  (17, 'trivia'),
  (18, 'locations'),
  (19, 'mini biography'),
  (20, 'birth notes'),
  (21, 'birth date'),
  (22, 'height'),
  (23, 'death date'),
  (24, 'spouse'),
  (25, 'other works'),
  (26, 'birth name'),
  (27, 'salary history'),
  (28, 'nick names'),
  (29, 'books'),
  (30, 'agent address'),
  (31, 'biographical movies'),
  (32, 'portrayed in'),
  (33, 'where now'),
  (34, 'trade mark'),
  (35, 'interviews'),
  (36, 'article'),
  (37, 'magazine cover photo'),
  (38, 'pictorial'),
  (39, 'death notes'),
  (40, 'LD disc format'),
  (41, 'LD year'),
  (42, 'LD digital sound'),
  (43, 'LD official retail price'),
  (44, 'LD frequency response'),
  (45, 'LD pressing plant'),
  (46, 'LD length'),
  (47, 'LD language'),
  (48, 'LD review'),
  (49, 'LD spaciality'),
  (50, 'LD release date'),
  (51, 'LD production country'),
  (52, 'LD contrast'),
  (53, 'LD color rendition'),
  (54, 'LD picture format'),
  (55, 'LD video noise'),
  (56, 'LD video artifacts'),
  (57, 'LD release country'),
  (58, 'LD sharpness'),
  (59, 'LD dynamic range'),
  (60, 'LD audio noise'),
  (61, 'LD color information'),
  (62, 'LD group genre'),
  (63, 'LD quality program'),
  (64, 'LD close captions-teletext-ld-g'),
  (65, 'LD category'),
  (66, 'LD analog left'),
  (67, 'LD certification'),
  (68, 'LD audio quality'),
  (69, 'LD video quality'),
  (70, 'LD aspect ratio'),
  (71, 'LD analog right'),
  (72, 'LD additional information'),
  (73, 'LD number of chapter stops'),
  (74, 'LD dialogue intellegibility'),
  (75, 'LD disc size'),
  (76, 'LD master format'),
  (77, 'LD subtitles'),
  (78, 'LD status of availablility'),
  (79, 'LD quality of source'),
  (80, 'LD number of sides'),
  (81, 'LD video standard'),
  (82, 'LD supplement'),
  (83, 'LD original title'),
  (84, 'LD sound encoding'),
  (85, 'LD number'),
  (86, 'LD label'),
  (87, 'LD catalog number'),
  (88, 'LD laserdisc title'),
  (89, 'screenplay-teleplay'),
  (90, 'novel'),
  (91, 'adaption'),
  (92, 'book'),
  (93, 'production process protocol'),
  (94, 'printed media reviews'),
  (95, 'essays'),
  (96, 'other literature'),
  (97, 'mpaa'),
  (98, 'plot'),
  (99, 'votes distribution'),
  (100, 'votes'),
  (101, 'rating'),
  (102, 'production dates'),
  (103, 'copyright holder'),
  (104, 'filming dates'),
  (105, 'budget'),
  (106, 'weekend gross'),
  (107, 'gross'),
  (108, 'opening weekend'),
  (109, 'rentals'),
  (110, 'admissions'),
  (111, 'studios'),
  (112, 'top 250 rank'),
  (113, 'bottom 10 rank');
INSERT INTO keyword VALUES
  (1, 'character-name-in-title', 'C21'),
  (2, 'sequel', 'S32'),
  (3, 'murder', 'M43'),
  (4, 'blood', 'B54'),
  (5, 'violence', 'V60'),
  (6, 'gore', 'G11'),
  (7, 'death', 'D22'),
  (8, 'female-nudity', 'F33'),
  (9, 'hospital', 'H44'),
  (10, 'murder-in-title', 'M50'),
  (11, 'superhero', 'S61'),
  (12, 'marvel-comics', 'M12'),
  (13, 'based-on-comic', 'B23'),
  (14, 'tv-special', 'T34'),
  (15, 'fight', 'F40'),
  (16, 'second-part', 'S51'),
  (17, 'hero', 'H62'),
  (18, 'martial-arts', 'M13'),
  (19, 'hand-to-hand-combat', 'H24'),
  (20, 'computer-animation', 'C30'),
  (21, 'computer-animated-movie', 'C41'),
  (22, 'nerd', 'N52'),
  (23, 'loner', 'L63'),
  (24, 'alienation', 'A14'),
  (25, 'dignity', 'D20'),
  (26, 'revenge', 'R31'),
  (27, 'based-on-novel', 'B42'),
  (28, 'magnet', 'M53'),
  (29, 'web', 'W64'),
  (30, 'claw', 'C10'),
  (31, 'laser', 'L21'),
  (32, 'sequel-to-cult-favorite', 'S32'),
  (33, 'number-in-title-sequel', 'N43'),
  (34, 'independent-film', 'I54'),
  (35, 'love', 'L60'),
  (36, 'friendship', 'F11'),
  (37, 'family-relationships', 'F22'),
  (38, 'flashback', 'F33'),
  (39, 'marvel-cinematic-universe', 'M44'),
  (40, '10,000-mile-club', '150');
INSERT INTO keyword
SELECT i, CONCAT((ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h1 % 20], '-', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h2 % 30], '-', i), CONCAT((ARRAY['A', 'B', 'D', 'F', 'G', 'K', 'L', 'M', 'P', 'R', 'S', 'T', 'W'])[1 + h1 % 13], 1 + h2 % 6, h2 % 5)
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2 FROM (SELECT i, (i * 1103515245 + 112648) % 2147483647 AS x1, (i * 1664525003 + 217377) % 2147483647 AS x2 FROM generate_series(41::bigint, 3200::bigint) AS g(i)) y) z;
INSERT INTO company_name VALUES
  (1, 'Warner Bros.', '[us]', NULL, 'W21', NULL, NULL),
  (2, '20th Century Fox', '[us]', NULL, '232', NULL, NULL),
  (3, 'Lionsgate', '[us]', NULL, 'L43', NULL, NULL),
  (4, 'DreamWorks Animation', '[us]', NULL, 'D54', NULL, NULL),
  (5, 'YouTube', '[us]', NULL, 'Y60', NULL, NULL),
  (6, 'Warner Home Video', '[us]', NULL, 'W11', NULL, NULL),
  (7, 'Twentieth Century Fox Film Corporation', '[us]', NULL, 'T22', NULL, NULL),
  (8, 'Lionsgate Films', '[us]', NULL, 'L33', NULL, NULL),
  (9, 'Metro-Goldwyn-Mayer (MGM)', '[us]', NULL, 'M44', NULL, NULL),
  (10, 'Toei Animation', '[jp]', NULL, 'T50', NULL, NULL),
  (11, 'Mosfilm', '[ru]', NULL, 'M61', NULL, NULL),
  (12, 'Constantin Film', '[de]', NULL, 'C12', NULL, NULL),
  (13, 'Svensk Filmindustri (SF)', '[se]', NULL, 'S23', NULL, NULL),
  (14, 'Independent Film', '[nl]', NULL, 'I34', NULL, NULL),
  (15, 'San Marino RTV', '[sm]', NULL, 'S40', NULL, NULL),
  (16, 'Warner Bros. Television', '[us]', NULL, 'W51', NULL, NULL);
INSERT INTO company_name
SELECT i, CONCAT((ARRAY['Red', 'Silver', 'Global', 'North', 'Sun', 'Blue Sky', 'Paradise', 'Atlas', 'First', 'Royal', 'Star', 'Lion', 'Eagle', 'Cine', 'Tele', 'Nova', 'Omega', 'Metro', 'United', 'Universal'])[1 + h1 % 20], ' ', (ARRAY['Productions', 'Pictures', 'Entertainment', 'Film', 'Films', 'Television', 'Video', 'Media', 'Studios', 'Home Entertainment', 'Filmproduktion', 'Broadcasting', 'Distribution', 'Group', 'Company'])[1 + h2 % 15], ' ', i),
  CASE WHEN h3 % 100 < 5 THEN NULL WHEN h3 % 1000 = 7 THEN '[sm]' ELSE CONCAT('[', (ARRAY['us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'us', 'gb', 'de', 'fr', 'jp', 'it', 'ca', 'es', 'in', 'nl', 'ru', 'se', 'pl', 'gb', 'de', 'fr', 'au', 'br', 'dk', 'no', 'mx', 'ar', 'hk', 'fi', 'be', 'at', 'ch'])[1 + i % 40], ']') END,
  NULL, CONCAT((ARRAY['R', 'S', 'G', 'N', 'S', 'B', 'P', 'A', 'F', 'R'])[1 + h1 % 10], 1 + h2 % 6, h2 % 5), NULL, CONCAT(1000000000000000 + h1, 2000000000000000 + h2)
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3 FROM (SELECT i, (i * 1103515245 + 120567) % 2147483647 AS x1, (i * 1664525003 + 225296) % 2147483647 AS x2, (i * 214013777 + 330025) % 2147483647 AS x3 FROM generate_series(17::bigint, 5600::bigint) AS g(i)) y) z;
INSERT INTO name
SELECT i, CONCAT(surname, ', ', given, CASE WHEN h3 % 3 = 0 THEN ' ' ELSE '' END, CASE WHEN h3 % 3 = 0 THEN (ARRAY['A.', 'B.', 'C.', 'D.', 'J.', 'M.', 'Lee', 'Ann', 'Tony', 'Angel'])[1 + h4 % 10] ELSE '' END),
  CASE WHEN h3 % 4 = 0 THEN (ARRAY['I', 'II', 'III', 'IV'])[1 + h4 % 4] END, NULL,
  CASE WHEN i % 10 < 5 THEN 'm' WHEN i % 10 < 8 THEN 'f' END,
  CONCAT(SUBSTR(surname, 1, 1), 1 + h2 % 6, h2 % 5), CONCAT(SUBSTR(given, 1, 1), 1 + h1 % 6, h1 % 5), CONCAT(SUBSTR(surname, 1, 1), 1 + h1 % 6, h1 % 5), CONCAT(1000000000000000 + h1, 2000000000000000 + h2)
FROM (SELECT i, h1, h2, h3, h4, (ARRAY['Smith', 'Johnson', 'Brown', 'Miller', 'Davis', 'Garcia', 'Wilson', 'Anderson', 'Taylor', 'Thomas', 'Moore', 'Jackson', 'Martin', 'Lee', 'Thompson', 'White', 'Harris', 'Clark', 'Lewis', 'Young', 'King', 'Wright', 'Scott', 'Green', 'Baker', 'Adams', 'Nelson', 'Carter', 'Mitchell', 'Roberts', 'Turner', 'Phillips', 'Campbell', 'Parker', 'Evans', 'Edwards', 'Collins', 'Stewart', 'Morris', 'Cook', 'Bell', 'Bailey', 'Cooper', 'Bertolucci', 'Dietrich', 'Fischer', 'Zimmermann', 'Zhang', 'Xu', 'Yoshida', 'Yamamoto', 'Tanaka', 'Kim', 'Ivanov', 'Petrov', 'Andersson', 'Jensen', 'Novak', 'Rossi', 'Dubois', 'Angelopoulos', 'Quinn', 'Ullman', 'Vogel', 'McNeil'])[1 + h1 % 65] AS surname, CASE WHEN i % 10 BETWEEN 5 AND 7 THEN (ARRAY['Mary', 'Anna', 'Angela', 'Angelina', 'Linda', 'Barbara', 'Elizabeth', 'Jennifer', 'Maria', 'Susan', 'Andrea', 'Annette', 'Lisa', 'Nancy', 'Karen', 'Betty', 'Helen', 'Sandra', 'Donna', 'Carol', 'Ruth', 'Sharon', 'Yoko', 'Yolanda', 'Yumi', 'Laura', 'Sarah', 'Kim', 'Joanne', 'Emma'])[1 + h2 % 30] ELSE (ARRAY['John', 'Robert', 'Michael', 'William', 'David', 'Richard', 'Joseph', 'Thomas', 'Charles', 'Daniel', 'Tim', 'Timothy', 'Bert', 'Albert', 'Mark', 'Paul', 'Steven', 'George', 'Kenneth', 'Andrew', 'Brian', 'Kevin', 'Hans', 'Peter', 'Jan', 'Ivan', 'Yoshi', 'Zack', 'Oliver', 'Frank'])[1 + h2 % 30] END AS given
  FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4 FROM (SELECT i, (i * 1103515245 + 128486) % 2147483647 AS x1, (i * 1664525003 + 233215) % 2147483647 AS x2, (i * 214013777 + 337944) % 2147483647 AS x3, (i * 69069133 + 442673) % 2147483647 AS x4 FROM generate_series(1::bigint, 60000::bigint) AS g(i)) y) z) w;
INSERT INTO name VALUES
  (60001, 'Andrews, Julie Ann', NULL, NULL, 'f', 'A536', 'J452', 'A536', NULL),
  (60002, 'Jolie, Angelina', NULL, NULL, 'f', 'J452', 'A524', 'J4', NULL),
  (60003, 'Yoshida, Yoko', NULL, NULL, 'f', 'Y23', 'Y2', 'Y23', NULL),
  (60004, 'Romero, George', NULL, NULL, 'm', 'R56', 'G62', 'R56', NULL),
  (60005, 'Downey Jr., Robert', NULL, NULL, 'm', 'D56', 'R163', 'D5', NULL),
  (60006, 'Davies, Dan', NULL, NULL, 'm', 'D12', 'D5', 'D12', NULL);
INSERT INTO char_name VALUES
  (1, 'Himself', NULL, NULL, 'H1', NULL, NULL),
  (2, 'Herself', NULL, NULL, 'H2', NULL, NULL),
  (3, 'Tony Stark / Iron Man', NULL, NULL, 'T3', NULL, NULL),
  (4, 'Iron Man', NULL, NULL, 'I4', NULL, NULL),
  (5, 'Batman', NULL, NULL, 'B5', NULL, NULL),
  (6, 'Spider-Man', NULL, NULL, 'S0', NULL, NULL),
  (7, 'Superman', NULL, NULL, 'S1', NULL, NULL),
  (8, 'Catwoman', NULL, NULL, 'C2', NULL, NULL),
  (9, 'Policeman', NULL, NULL, 'P3', NULL, NULL),
  (10, 'Fireman', NULL, NULL, 'F4', NULL, NULL),
  (11, 'Queen', NULL, NULL, 'Q5', NULL, NULL),
  (12, 'Sherlock Holmes', NULL, NULL, 'S0', NULL, NULL),
  (13, 'Narrator', NULL, NULL, 'N1', NULL, NULL),
  (14, 'Doctor', NULL, NULL, 'D2', NULL, NULL),
  (15, 'Woman', NULL, NULL, 'W3', NULL, NULL),
  (16, 'Man in Bar', NULL, NULL, 'M4', NULL, NULL),
  (17, 'Salesman', NULL, NULL, 'S5', NULL, NULL),
  (18, 'Mandarin', NULL, NULL, 'M0', NULL, NULL),
  (19, 'Nurse', NULL, NULL, 'N1', NULL, NULL),
  (20, 'Dancer', NULL, NULL, 'D2', NULL, NULL);
INSERT INTO char_name
SELECT i, CONCAT((ARRAY['John', 'Robert', 'Michael', 'William', 'David', 'Richard', 'Joseph', 'Thomas', 'Charles', 'Daniel', 'Tim', 'Timothy', 'Bert', 'Albert', 'Mark', 'Paul', 'Steven', 'George', 'Kenneth', 'Andrew', 'Brian', 'Kevin', 'Hans', 'Peter', 'Jan', 'Ivan', 'Yoshi', 'Zack', 'Oliver', 'Frank', 'Mary', 'Anna', 'Angela', 'Angelina', 'Linda', 'Barbara', 'Elizabeth', 'Jennifer', 'Maria', 'Susan', 'Andrea', 'Annette', 'Lisa', 'Nancy', 'Karen', 'Betty', 'Helen', 'Sandra', 'Donna', 'Carol', 'Ruth', 'Sharon', 'Yoko', 'Yolanda', 'Yumi', 'Laura', 'Sarah', 'Kim', 'Joanne', 'Emma'])[1 + h2 % 60], ' ', (ARRAY['Smith', 'Johnson', 'Brown', 'Miller', 'Davis', 'Garcia', 'Wilson', 'Anderson', 'Taylor', 'Thomas', 'Moore', 'Jackson', 'Martin', 'Lee', 'Thompson', 'White', 'Harris', 'Clark', 'Lewis', 'Young', 'King', 'Wright', 'Scott', 'Green', 'Baker', 'Adams', 'Nelson', 'Carter', 'Mitchell', 'Roberts', 'Turner', 'Phillips', 'Campbell', 'Parker', 'Evans', 'Edwards', 'Collins', 'Stewart', 'Morris', 'Cook', 'Bell', 'Bailey', 'Cooper', 'Bertolucci', 'Dietrich', 'Fischer', 'Zimmermann', 'Zhang', 'Xu', 'Yoshida', 'Yamamoto', 'Tanaka', 'Kim', 'Ivanov', 'Petrov', 'Andersson', 'Jensen', 'Novak', 'Rossi', 'Dubois', 'Angelopoulos', 'Quinn', 'Ullman', 'Vogel', 'McNeil', 'Norman', 'Hoffman', 'Manning', 'Bowman'])[1 + h1 % 69], CASE WHEN h3 % 5 = 0 THEN (ARRAY[' Jr.', ' the Great', ' / Policeman', ' the Third'])[1 + h3 % 4] ELSE '' END),
  NULL, NULL, CONCAT('C', 1 + h2 % 6, h2 % 5), CONCAT('S', 1 + h1 % 6, h1 % 5), CONCAT(1000000000000000 + h1, 2000000000000000 + h2)
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3 FROM (SELECT i, (i * 1103515245 + 136405) % 2147483647 AS x1, (i * 1664525003 + 241134) % 2147483647 AS x2, (i * 214013777 + 345863) % 2147483647 AS x3 FROM generate_series(21::bigint, 40000::bigint) AS g(i)) y) z;
INSERT INTO title
SELECT i, CONCAT((ARRAY['The Dark', 'The Last', 'A Secret', 'My', 'Our', 'Lost', 'Golden', 'Silent', 'Young', 'Broken', 'Wild', 'Hidden', 'Red', 'Blue', 'Cold', 'Strange', 'Big', 'Little', 'Deep', 'Return of the', 'Night of the', 'Day of the', 'Love and', 'Death and', 'Life of the', 'Champion', 'Loser', 'Vampire', 'Saw', 'Murder on the', 'Money for the', 'Freddy and the', 'Jason and the', 'One', 'Two', 'Three', 'The Great', 'The First', 'Old', 'New'])[1 + h1 % 40], ' ', (ARRAY['House', 'River', 'City', 'Train', 'Child', 'Wife', 'Brother', 'War', 'School', 'Island', 'Bridge', 'Letter', 'Garden', 'Doctor', 'Soldier', 'Dog', 'Horse', 'Road', 'Dance', 'Song', 'Prison', 'Summer', 'Winter', 'King', 'Queen', 'Ghost', 'Dream', 'Game', 'Mother', 'Father', 'Champion', 'Loser', 'Murder', 'Mord', 'Money', 'Movie', 'Vampire', 'Panda', 'Piece', 'World'])[1 + h2 % 40], CASE WHEN h3 % 3 = 0 THEN '' ELSE CONCAT(' ', 1 + h3 % 999) END),
  CASE WHEN h3 % 12 = 0 THEN (ARRAY['I', 'II', 'III'])[1 + h4 % 3] END, kind,
  CASE WHEN i % 40 = 7 THEN 2000 + h5 % 17 WHEN h5 % 100 = 0 THEN NULL ELSE 2013 - (h5 % 1000) * (h5 % 1000) * (h5 % 1000) / 10000000 END,
  NULL, CONCAT((ARRAY['A', 'B', 'C', 'D', 'F', 'G', 'H', 'L', 'M', 'R', 'S', 'T', 'W'])[1 + h1 % 13], 1 + h2 % 6, h2 % 5),
  CASE WHEN kind = 7 THEN 50 + 200 * (h4 % 290) END, CASE WHEN kind = 7 THEN 1 + h4 % 9 END, CASE WHEN kind = 7 THEN 1 + (h3 % 120) * (h3 % 120) / 120 END,
  CASE WHEN kind = 2 THEN '2001-????' END, CONCAT(1000000000000000 + h1, 2000000000000000 + h2)
FROM (SELECT i, h1, h2, h3, h4, h5, CASE WHEN i % 200 = 50 THEN 2
    WHEN h4 % 100 < 85 AND (i % 40 = 7 OR i % 12 = 3 OR i % 30 = 11 OR i % 25 = 2 OR i % 20 = 13) THEN 1
    WHEN h4 % 100 < 20 THEN 1 WHEN h4 % 100 < 24 THEN 2 WHEN h4 % 100 < 28 THEN 3 WHEN h4 % 100 < 34 THEN 4 WHEN h4 % 100 < 35 THEN 5 WHEN h4 % 100 < 36 THEN 6 ELSE 7 END AS kind
  FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4, x5 * x5 % 2147483647 AS h5 FROM (SELECT i, (i * 1103515245 + 144324) % 2147483647 AS x1, (i * 1664525003 + 249053) % 2147483647 AS x2, (i * 214013777 + 353782) % 2147483647 AS x3, (i * 69069133 + 458511) % 2147483647 AS x4, (i * 1284865837 + 563240) % 2147483647 AS x5 FROM generate_series(1::bigint, 59946::bigint) AS g(i)) y) z) w;
INSERT INTO title VALUES
  (59947, 'Shrek 2', NULL, 1, 2004, NULL, 'S14', NULL, NULL, NULL, NULL, NULL),
  (59948, 'Kung Fu Panda', NULL, 1, 2008, NULL, 'K13', NULL, NULL, NULL, NULL, NULL),
  (59949, 'Kung Fu Panda 2', NULL, 1, 2011, NULL, 'K11', NULL, NULL, NULL, NULL, NULL),
  (59950, 'Birdemic: Shock and Terror', NULL, 1, 2010, NULL, 'B10', NULL, NULL, NULL, NULL, NULL),
  (59951, 'One Piece: Episode of Alabaster', NULL, 1, 2007, NULL, 'O12', NULL, NULL, NULL, NULL, NULL),
  (59952, 'Lonely in a Browser', NULL, 1, 2008, NULL, 'L13', NULL, NULL, NULL, NULL, NULL),
  (59953, 'Money Talks Again', NULL, 1, 1998, NULL, 'M13', NULL, NULL, NULL, NULL, NULL),
  (59954, 'Saw IV', NULL, 1, 2007, NULL, 'S12', NULL, NULL, NULL, NULL, NULL),
  (59955, 'Vampire Academy', NULL, 1, 2011, NULL, 'V11', NULL, NULL, NULL, NULL, NULL),
  (59956, 'Het Vervolg', NULL, 2, 2006, NULL, 'H21', NULL, NULL, NULL, NULL, NULL),
  (59957, 'Het Vervolg II', NULL, 2, 2007, NULL, 'H22', NULL, NULL, NULL, NULL, NULL),
  (59958, 'Iron Man 3', NULL, 1, 2015, NULL, 'I10', NULL, NULL, NULL, NULL, NULL),
  (59959, 'An American Tape', NULL, 1, 2011, NULL, 'A11', NULL, NULL, NULL, NULL, NULL),
  (59960, 'Airplane Stories', NULL, 1, 1999, NULL, 'A14', NULL, NULL, NULL, NULL, NULL),
  (59961, 'Moskva', NULL, 1, 2012, NULL, 'M12', NULL, NULL, NULL, NULL, NULL),
  (59962, 'Featured Piece', NULL, 1, 1982, NULL, 'F12', NULL, NULL, NULL, NULL, NULL),
  (59963, 'Titano', NULL, 1, 2003, NULL, 'T13', NULL, NULL, NULL, NULL, NULL),
  (59964, 'Mord in Stockholm', NULL, 1, 2008, NULL, 'M13', NULL, NULL, NULL, NULL, NULL);
INSERT INTO aka_title
SELECT s.i, s.mid, CONCAT((ARRAY['The Dark', 'The Last', 'A Secret', 'My', 'Our', 'Lost', 'Golden', 'Silent', 'Young', 'Broken', 'Wild', 'Hidden', 'Red', 'Blue', 'Cold', 'Strange', 'Big', 'Little', 'Deep', 'Return of the', 'Night of the', 'Day of the', 'Love and', 'Death and', 'Life of the', 'Champion', 'Loser', 'Vampire', 'Saw', 'Murder on the', 'Money for the', 'Freddy and the', 'Jason and the', 'One', 'Two', 'Three', 'The Great', 'The First', 'Old', 'New'])[1 + s.h2 % 40], ' ', (ARRAY['House', 'River', 'City', 'Train', 'Child', 'Wife', 'Brother', 'War', 'School', 'Island', 'Bridge', 'Letter', 'Garden', 'Doctor', 'Soldier', 'Dog', 'Horse', 'Road', 'Dance', 'Song', 'Prison', 'Summer', 'Winter', 'King', 'Queen', 'Ghost', 'Dream', 'Game', 'Mother', 'Father', 'Champion', 'Loser', 'Murder', 'Mord', 'Money', 'Movie', 'Vampire', 'Panda', 'Piece', 'World'])[1 + s.h3 % 40], ' (', (ARRAY['German', 'Swedish', 'French', 'International', 'working'])[1 + s.h4 % 5], ' title)'), NULL, t.kind_id, t.production_year,
  t.phonetic_code, NULL, NULL, NULL, (ARRAY['(Germany)', '(Sweden)', '(France)', '(International: English title)', '(USA: working title)'])[1 + s.h4 % 5], CONCAT(1000000000000000 + s.h2, 2000000000000000 + s.h3)
FROM (SELECT i, 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 AS mid, h2, h3, h4 FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4 FROM (SELECT i, (i * 1103515245 + 152243) % 2147483647 AS x1, (i * 1664525003 + 256972) % 2147483647 AS x2, (i * 214013777 + 361701) % 2147483647 AS x3, (i * 69069133 + 466430) % 2147483647 AS x4 FROM generate_series(1::bigint, 8600::bigint) AS g(i)) y) z) s JOIN title t ON t.id = s.mid
ORDER BY s.i;
INSERT INTO aka_title VALUES
  (8601, 59952, 'Einsam im Browser', NULL, 1, 2008, 'E252', NULL, NULL, NULL, '(Germany)', NULL);
INSERT INTO aka_name
SELECT i, 1 + (h1 % 10000) * (h1 % 10000) * 60000 / 100000000, CONCAT((ARRAY['Smith', 'Johnson', 'Brown', 'Miller', 'Davis', 'Garcia', 'Wilson', 'Anderson', 'Taylor', 'Thomas', 'Moore', 'Jackson', 'Martin', 'Lee', 'Thompson', 'White', 'Harris', 'Clark', 'Lewis', 'Young', 'King', 'Wright', 'Scott', 'Green', 'Baker', 'Adams', 'Nelson', 'Carter', 'Mitchell', 'Roberts', 'Turner', 'Phillips', 'Campbell', 'Parker', 'Evans', 'Edwards', 'Collins', 'Stewart', 'Morris', 'Cook', 'Bell', 'Bailey', 'Cooper', 'Bertolucci', 'Dietrich', 'Fischer', 'Zimmermann', 'Zhang', 'Xu', 'Yoshida', 'Yamamoto', 'Tanaka', 'Kim', 'Ivanov', 'Petrov', 'Andersson', 'Jensen', 'Novak', 'Rossi', 'Dubois', 'Angelopoulos', 'Quinn', 'Ullman', 'Vogel', 'McNeil'])[1 + h2 % 65], ', ', (ARRAY['John', 'Robert', 'Michael', 'William', 'David', 'Richard', 'Joseph', 'Thomas', 'Charles', 'Daniel', 'Tim', 'Timothy', 'Bert', 'Albert', 'Mark', 'Paul', 'Steven', 'George', 'Kenneth', 'Andrew', 'Brian', 'Kevin', 'Hans', 'Peter', 'Jan', 'Ivan', 'Yoshi', 'Zack', 'Oliver', 'Frank', 'Mary', 'Anna', 'Angela', 'Angelina', 'Linda', 'Barbara', 'Elizabeth', 'Jennifer', 'Maria', 'Susan', 'Andrea', 'Annette', 'Lisa', 'Nancy', 'Karen', 'Betty', 'Helen', 'Sandra', 'Donna', 'Carol', 'Ruth', 'Sharon', 'Yoko', 'Yolanda', 'Yumi', 'Laura', 'Sarah', 'Kim', 'Joanne', 'Emma'])[1 + h3 % 60]), NULL, CONCAT('A', 1 + h2 % 6, h2 % 5), CONCAT('N', 1 + h3 % 6, h3 % 5), NULL, CONCAT(1000000000000000 + h2, 2000000000000000 + h3)
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3 FROM (SELECT i, (i * 1103515245 + 160162) % 2147483647 AS x1, (i * 1664525003 + 264891) % 2147483647 AS x2, (i * 214013777 + 369620) % 2147483647 AS x3 FROM generate_series(1::bigint, 21000::bigint) AS g(i)) y) z;
INSERT INTO aka_name VALUES
  (21001, 60001, 'Wells, Julia', NULL, NULL, NULL, NULL, NULL),
  (21002, 60002, 'Voight, Angelina Jolie', NULL, NULL, NULL, NULL, NULL),
  (21003, 60003, 'Yoshida, Yohko', NULL, NULL, NULL, NULL, NULL),
  (21004, 60004, 'Romero, G.A.', NULL, NULL, NULL, NULL, NULL),
  (21005, 60005, 'Downey, Bob', NULL, NULL, NULL, NULL, NULL),
  (21006, 60006, 'Davies, Daniel', NULL, NULL, NULL, NULL, NULL);
INSERT INTO cast_info
SELECT i, pid, mid,
  CASE WHEN role > 2 OR h4 % 10 < 4 THEN NULL WHEN mid % 40 = 7 AND h4 % 10 < 7 THEN 3 + h4 % 16 ELSE 1 + (h5 % 10000) * (h5 % 10000) * 40000 / 100000000 END,
  CASE WHEN role <= 2 THEN CASE WHEN h6 % 1000 < 35 OR (mid % 30 = 11 AND h6 % 1000 < 500) THEN '(voice)' WHEN h6 % 1000 < 550 THEN NULL WHEN h6 % 1000 < 560 THEN '(voice: Japanese version)'
        WHEN h6 % 1000 < 575 THEN '(voice: English version)' WHEN h6 % 1000 < 590 THEN '(voice) (uncredited)' WHEN h6 % 1000 < 680 THEN '(uncredited)' WHEN h6 % 1000 < 683 THEN '(also) (producer)'
        WHEN h6 % 1000 < 720 THEN CONCAT('(as ', (ARRAY['John', 'Robert', 'Michael', 'William', 'David', 'Richard', 'Joseph', 'Thomas', 'Charles', 'Daniel', 'Tim', 'Timothy', 'Bert', 'Albert', 'Mark', 'Paul', 'Steven', 'George', 'Kenneth', 'Andrew', 'Brian', 'Kevin', 'Hans', 'Peter', 'Jan', 'Ivan', 'Yoshi', 'Zack', 'Oliver', 'Frank'])[1 + h5 % 30], ' ', (ARRAY['Smith', 'Johnson', 'Brown', 'Miller', 'Davis', 'Garcia', 'Wilson', 'Anderson', 'Taylor', 'Thomas', 'Moore', 'Jackson', 'Martin', 'Lee', 'Thompson', 'White', 'Harris', 'Clark', 'Lewis', 'Young', 'King', 'Wright', 'Scott', 'Green', 'Baker', 'Adams', 'Nelson', 'Carter', 'Mitchell', 'Roberts', 'Turner', 'Phillips', 'Campbell', 'Parker', 'Evans', 'Edwards', 'Collins', 'Stewart', 'Morris', 'Cook', 'Bell', 'Bailey', 'Cooper', 'Bertolucci', 'Dietrich', 'Fischer', 'Zimmermann', 'Zhang', 'Xu', 'Yoshida', 'Yamamoto', 'Tanaka', 'Kim', 'Ivanov', 'Petrov', 'Andersson', 'Jensen', 'Novak', 'Rossi', 'Dubois', 'Angelopoulos', 'Quinn', 'Ullman', 'Vogel', 'McNeil'])[1 + h4 % 65], ')') END
    WHEN role = 3 THEN (ARRAY['(producer)', '(producer)', '(producer)', '(executive producer)', '(executive producer)', '(co-producer)', '(associate producer)', '(line producer)', '(supervising producer)'])[1 + h6 % 9]
    WHEN role = 4 THEN (ARRAY['(writer)', '(writer)', '(written by)', '(written by)', '(story)', '(screenplay)', '(screenplay)', '(novel)', '(characters)', '(creator)', '(head writer)', '(story editor)'])[1 + h6 % 12]
    WHEN role = 10 THEN (ARRAY['(gaffer)', '(script supervisor)', '(production assistant)', '(stunts)', '(camera operator)', '(visual effects)'])[1 + h6 % 6] END,
  CASE WHEN role <= 2 AND h4 % 3 > 0 THEN 1 + h5 % 40 END, role
FROM (SELECT i, pid, mid, h3, h4, h5, h6, CASE WHEN h3 % 100 < 58 THEN CASE WHEN pid % 10 BETWEEN 5 AND 7 THEN 2 ELSE 1 END WHEN h3 % 100 < 67 THEN 3 WHEN h3 % 100 < 75 THEN 4 WHEN h3 % 100 < 79 THEN 5
    WHEN h3 % 100 < 82 THEN 6 WHEN h3 % 100 < 83 THEN 7 WHEN h3 % 100 < 88 THEN 8 WHEN h3 % 100 < 92 THEN 9 WHEN h3 % 100 < 99 THEN 10 ELSE 11 END AS role
  FROM (SELECT i, 1 + (h1 % 10000) * (h1 % 10000) * 60000 / 100000000 AS pid, 1 + ((3000 + h2 % 97000) * (3000 + h2 % 97000) - 9000000) * 6 / 1000000 AS mid, h3, h4, h5, h6 FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4, x5 * x5 % 2147483647 AS h5, x6 * x6 % 2147483647 AS h6 FROM (SELECT i, (i * 1103515245 + 168081) % 2147483647 AS x1, (i * 1664525003 + 272810) % 2147483647 AS x2, (i * 214013777 + 377539) % 2147483647 AS x3, (i * 69069133 + 482268) % 2147483647 AS x4, (i * 1284865837 + 586997) % 2147483647 AS x5, (i * 742938285 + 691726) % 2147483647 AS x6 FROM generate_series(1::bigint, 400000::bigint) AS g(i)) y) z) v) w;
INSERT INTO cast_info
SELECT 400000 + 1 + i, 60005, i * 400 + 7, 3 + i % 2, NULL, 1, 1 FROM generate_series(0::bigint, 149::bigint) AS g(i);
INSERT INTO cast_info VALUES
  (401000, 60001, 59947, 11, '(voice)', 1, 2),
  (401001, 60002, 59948, 21, '(voice)', 1, 2),
  (401002, 60002, 59949, 21, '(voice)', 1, 2),
  (401003, 60003, 59951, 22, '(voice: English version)', 1, 2),
  (401004, 60004, 59954, NULL, '(writer)', 1, 4),
  (401005, 60004, 59955, NULL, '(written by)', 1, 4),
  (401006, 60005, 59958, 3, NULL, 1, 1),
  (401007, 60006, 59961, 23, '(producer)', 1, 1),
  (401008, 60006, 59962, 24, NULL, 1, 1);
INSERT INTO complete_cast
SELECT i, CASE WHEN h3 % 10 < 2 THEN 13 + 20 * ((1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000) / 20) WHEN h3 % 10 = 2 THEN 7 + 40 * ((1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000) / 40) WHEN h3 % 10 = 3 THEN 3 + 12 * ((1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000) / 12) ELSE 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 END,
  CASE WHEN h2 % 10 < 6 THEN 1 ELSE 2 END, CASE WHEN h4 % 10 < 7 THEN 3 ELSE 4 END
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4 FROM (SELECT i, (i * 1103515245 + 176000) % 2147483647 AS x1, (i * 1664525003 + 280729) % 2147483647 AS x2, (i * 214013777 + 385458) % 2147483647 AS x3, (i * 69069133 + 490187) % 2147483647 AS x4 FROM generate_series(1::bigint, 5000::bigint) AS g(i)) y) z;
INSERT INTO complete_cast VALUES
  (5001, 59947, 1, 4),
  (5002, 59953, 1, 3),
  (5003, 59954, 1, 4),
  (5004, 59958, 1, 4),
  (5005, 59952, 4, 4),
  (5006, 59964, 2, 3);
INSERT INTO movie_keyword
SELECT i, mid, CASE WHEN h4 % 3 > 0 THEN 1 + (h2 % 10000) * (h2 % 10000) * 3200 / 100000000
  WHEN mid % 40 = 7 THEN CASE h3 % 12 WHEN 0 THEN 11 WHEN 1 THEN 11 WHEN 2 THEN 12 WHEN 3 THEN 13 WHEN 4 THEN 15 WHEN 5 THEN 5 WHEN 6 THEN 28 WHEN 7 THEN 29 WHEN 8 THEN 30 WHEN 9 THEN 31 WHEN 10 THEN 14 WHEN 11 THEN 16 END
  WHEN mid % 12 = 3 THEN CASE h3 % 11 WHEN 0 THEN 3 WHEN 1 THEN 3 WHEN 2 THEN 3 WHEN 3 THEN 4 WHEN 4 THEN 4 WHEN 5 THEN 5 WHEN 6 THEN 6 WHEN 7 THEN 7 WHEN 8 THEN 8 WHEN 9 THEN 9 WHEN 10 THEN 10 END
  WHEN mid % 30 = 11 THEN CASE h3 % 6 WHEN 0 THEN 20 WHEN 1 THEN 20 WHEN 2 THEN 17 WHEN 3 THEN 18 WHEN 4 THEN 19 WHEN 5 THEN 21 END
  WHEN mid % 25 = 2 THEN CASE h3 % 4 WHEN 0 THEN 22 WHEN 1 THEN 23 WHEN 2 THEN 24 WHEN 3 THEN 25 END
  WHEN mid % 20 = 13 THEN CASE h3 % 7 WHEN 0 THEN 2 WHEN 1 THEN 2 WHEN 2 THEN 2 WHEN 3 THEN 26 WHEN 4 THEN 27 WHEN 5 THEN 32 WHEN 6 THEN 33 END
  ELSE 1 + (h3 % 10000) * (h3 % 10000) * 3200 / 100000000 END
FROM (SELECT i, 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 AS mid, h2, h3, h4 FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4 FROM (SELECT i, (i * 1103515245 + 183919) % 2147483647 AS x1, (i * 1664525003 + 288648) % 2147483647 AS x2, (i * 214013777 + 393377) % 2147483647 AS x3, (i * 69069133 + 498106) % 2147483647 AS x4 FROM generate_series(1::bigint, 105000::bigint) AS g(i)) y) z) w;
INSERT INTO movie_keyword
SELECT 105000 + 1 + i, i * 800 + 7, 39 FROM generate_series(0::bigint, 74::bigint) AS g(i);
INSERT INTO movie_keyword VALUES
  (106000, 59947, 20),
  (106001, 59948, 18),
  (106002, 59949, 18),
  (106003, 59952, 23),
  (106004, 59953, 2),
  (106005, 59954, 6),
  (106006, 59955, 4),
  (106007, 59958, 39),
  (106008, 59958, 11),
  (106009, 59960, 40),
  (106010, 59963, 1),
  (106011, 59964, 3);
INSERT INTO movie_companies
SELECT s.i, s.mid, s.cid, s.ct,
  CASE WHEN s.ct = 2 THEN CASE WHEN h3 % 1000 < 600 THEN NULL WHEN h3 % 1000 < 750 THEN '(presents)' WHEN h3 % 1000 < 880 THEN '(co-production)' WHEN h3 % 1000 < 890 THEN '(as Metro-Goldwyn-Mayer Pictures) (presents)'
      WHEN h3 % 1000 < 960 THEN '(in association with)' ELSE CONCAT('(', 1990 + h4 % 24, ') (', CASE WHEN c.country_code = '[jp]' AND h5 % 10 < 7 THEN 'Japan' ELSE (ARRAY['USA', 'USA', 'USA', 'USA', 'worldwide', 'worldwide', 'Germany', 'France', 'Japan', 'UK', 'Sweden', 'Italy', 'Canada', 'Netherlands'])[1 + h5 % 14] END, ') (', (ARRAY['theatrical', 'theatrical', 'TV', 'TV', 'VHS', 'DVD', 'DVD', 'Blu-ray', 'all media'])[1 + h4 % 9], ')') END
    WHEN h3 % 1000 < 150 THEN NULL ELSE CONCAT('(', 1990 + h4 % 24, ') (', CASE WHEN c.country_code = '[jp]' AND h5 % 10 < 7 THEN 'Japan' ELSE (ARRAY['USA', 'USA', 'USA', 'USA', 'worldwide', 'worldwide', 'Germany', 'France', 'Japan', 'UK', 'Sweden', 'Italy', 'Canada', 'Netherlands'])[1 + h5 % 14] END, ') (', (ARRAY['theatrical', 'theatrical', 'TV', 'TV', 'VHS', 'DVD', 'DVD', 'Blu-ray', 'all media'])[1 + h4 % 9], ')') END
FROM (SELECT i, 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 AS mid, 1 + (h2 % 10000) * (h2 % 10000) * 5600 / 100000000 AS cid, CASE WHEN h6 % 100 < 51 THEN 2 ELSE 1 END AS ct, h3, h4, h5 FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4, x5 * x5 % 2147483647 AS h5, x6 * x6 % 2147483647 AS h6 FROM (SELECT i, (i * 1103515245 + 191838) % 2147483647 AS x1, (i * 1664525003 + 296567) % 2147483647 AS x2, (i * 214013777 + 401296) % 2147483647 AS x3, (i * 69069133 + 506025) % 2147483647 AS x4, (i * 1284865837 + 610754) % 2147483647 AS x5, (i * 742938285 + 715483) % 2147483647 AS x6 FROM generate_series(1::bigint, 62000::bigint) AS g(i)) y) z) s JOIN company_name c ON c.id = s.cid
ORDER BY s.i;
INSERT INTO movie_companies VALUES
  (62001, 59947, 4, 2, NULL),
  (62002, 59948, 4, 1, '(2008) (USA) (theatrical)'),
  (62003, 59949, 4, 2, NULL),
  (62004, 59950, 7, 2, '(presents)'),
  (62005, 59951, 10, 1, '(2007) (Japan) (TV)'),
  (62006, 59952, 5, 1, '(2008) (worldwide) (all media)'),
  (62007, 59953, 7, 2, NULL),
  (62008, 59954, 3, 1, '(2008) (USA) (Blu-ray)'),
  (62009, 59956, 14, 2, NULL),
  (62010, 59957, 14, 2, NULL),
  (62011, 59956, 16, 1, NULL),
  (62012, 59959, 1, 2, '(1994) (USA) (VHS)'),
  (62013, 59961, 11, 2, NULL),
  (62014, 59963, 15, 2, NULL),
  (62015, 59964, 13, 1, '(2008) (Sweden) (theatrical)');
INSERT INTO movie_info
SELECT s.i, s.mid, s.ty,
  CASE s.ty
  WHEN 3 THEN CASE WHEN mid % 12 = 3 AND h4 % 10 < 7 THEN (ARRAY['Horror', 'Horror', 'Thriller'])[1 + h3 % 3] WHEN mid % 40 = 7 AND h4 % 10 < 7 THEN (ARRAY['Action', 'Sci-Fi'])[1 + h3 % 2] WHEN mid % 30 = 11 AND h4 % 10 < 7 THEN (ARRAY['Animation', 'Family'])[1 + h3 % 2] ELSE (ARRAY['Drama', 'Drama', 'Drama', 'Drama', 'Drama', 'Comedy', 'Comedy', 'Comedy', 'Short', 'Short', 'Documentary', 'Documentary', 'Romance', 'Family', 'Thriller', 'Horror', 'Action', 'Crime', 'Sci-Fi', 'War', 'Western', 'Music', 'Adventure', 'Mystery'])[1 + h3 % 24] END
  WHEN 8 THEN (ARRAY['USA', 'USA', 'USA', 'USA', 'USA', 'USA', 'USA', 'UK', 'UK', 'UK', 'Germany', 'Germany', 'France', 'France', 'Japan', 'Japan', 'India', 'Canada', 'Canada', 'Italy', 'Spain', 'Sweden', 'Denmark', 'Norway', 'Netherlands', 'Brazil', 'Mexico', 'Russia', 'Poland', 'Bulgaria'])[1 + h3 % 30]
  WHEN 4 THEN (ARRAY['English', 'English', 'English', 'English', 'English', 'English', 'German', 'German', 'French', 'French', 'Spanish', 'Spanish', 'Japanese', 'Italian', 'Swedish', 'Danish', 'Norwegian', 'Dutch', 'Hindi', 'Portuguese'])[1 + h3 % 20]
  WHEN 16 THEN CONCAT((ARRAY['USA', 'USA', 'USA', 'USA', 'USA', 'Japan', 'UK', 'Germany', 'France', 'Sweden', 'Canada', 'Italy', 'Spain', 'Australia', 'Russia'])[1 + h3 % 15], ':', 1 + h4 % 28, ' ', (ARRAY['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'])[1 + h4 % 12], ' ', COALESCE(t.production_year, 1999) + CASE WHEN h5 % 10 < 7 THEN 0 ELSE h5 % 3 END)
  WHEN 1 THEN CONCAT(5 + h3 % 150)
  WHEN 2 THEN (ARRAY['Color', 'Color', 'Color', 'Black and White'])[1 + h3 % 4]
  WHEN 5 THEN (ARRAY['USA:R', 'USA:PG-13', 'USA:PG', 'UK:15', 'UK:18', 'Germany:16', 'Sweden:15', 'Finland:K-16'])[1 + h3 % 8]
  WHEN 6 THEN (ARRAY['Mono', 'Stereo', 'Dolby Digital', 'DTS'])[1 + h3 % 4]
  WHEN 105 THEN CONCAT('$', 1 + h3 % 90, ',000,000')
  WHEN 98 THEN CONCAT('A ', (ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h3 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h4 % 30], ' meets a ', (ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h5 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h3 % 30], ' and everything changes for the ', (ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h4 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h5 % 30], '.')
  ELSE CONCAT((ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h3 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h4 % 30], ' ', h5 % 100000) END,
  CASE WHEN s.ty = 16 THEN CASE WHEN h6 % 100 < 5 OR (mid % 25 = 2 AND h6 % 100 < 50) THEN '(internet)' WHEN h6 % 100 < 65 THEN NULL ELSE (ARRAY['(limited)', '(premiere)', '(re-release)', '(DVD premiere)', '(Berlin International Film Festival)'])[1 + h5 % 5] END
    WHEN s.ty = 98 THEN 'Anonymous' WHEN s.ty = 3 THEN NULL WHEN h6 % 100 < 12 THEN '(uncut)' END
FROM (SELECT i, 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 AS mid, h3, h4, h5, h6, CASE WHEN h2 % 100 < 16 THEN 3 WHEN h2 % 100 < 28 THEN 8 WHEN h2 % 100 < 39 THEN 4 WHEN h2 % 100 < 65 THEN 16 WHEN h2 % 100 < 74 THEN 1 WHEN h2 % 100 < 80 THEN 2
    WHEN h2 % 100 < 85 THEN 5 WHEN h2 % 100 < 89 THEN 6 WHEN h2 % 100 < 92 THEN 105 WHEN h2 % 100 < 95 THEN 98 WHEN h2 % 100 < 98 THEN 17 ELSE 9 + h2 % 10 END AS ty
  FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4, x5 * x5 % 2147483647 AS h5, x6 * x6 % 2147483647 AS h6 FROM (SELECT i, (i * 1103515245 + 199757) % 2147483647 AS x1, (i * 1664525003 + 304486) % 2147483647 AS x2, (i * 214013777 + 409215) % 2147483647 AS x3, (i * 69069133 + 513944) % 2147483647 AS x4, (i * 1284865837 + 618673) % 2147483647 AS x5, (i * 742938285 + 723402) % 2147483647 AS x6 FROM generate_series(1::bigint, 200000::bigint) AS g(i)) y) z) s JOIN title t ON t.id = s.mid
ORDER BY s.i;
INSERT INTO movie_info VALUES
  (200001, 59947, 16, 'USA:19 May 2004', NULL),
  (200002, 59948, 16, 'USA:6 June 2008', NULL),
  (200003, 59949, 16, 'USA:26 May 2011', NULL),
  (200004, 59950, 105, '$10,000', NULL),
  (200005, 59952, 16, 'USA:5 March 2008', '(internet)'),
  (200006, 59953, 8, 'Germany', NULL),
  (200007, 59954, 3, 'Horror', NULL),
  (200008, 59955, 3, 'Horror', NULL),
  (200009, 59959, 8, 'USA', NULL),
  (200010, 59964, 8, 'Sweden', NULL);
INSERT INTO movie_info_idx
SELECT 3 * (i - 1) + ty - 98, mid, ty, CASE ty WHEN 99 THEN CONCAT('00000', 10000 + h1 % 80000) WHEN 100 THEN CONCAT(5 + (h1 % 3000) * (h1 % 3000) / 500 * (1 + h2 % 50)) ELSE CONCAT(r / 10, '.', r % 10) END, NULL
FROM (SELECT i, mid, h1, h2, CASE WHEN mid % 200 = 50 THEN 10 + h2 % 40 ELSE 10 + h2 % 45 + h3 % 45 END AS r
  FROM (SELECT i, i + i * i * 44 / 110000 AS mid, h1, h2, h3 FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3 FROM (SELECT i, (i * 1103515245 + 207676) % 2147483647 AS x1, (i * 1664525003 + 312405) % 2147483647 AS x2, (i * 214013777 + 417134) % 2147483647 AS x3 FROM generate_series(1::bigint, 11000::bigint) AS g(i)) y) z) v) w,
  (SELECT 99 AS ty UNION ALL SELECT 100 UNION ALL SELECT 101) k
ORDER BY 1;
INSERT INTO movie_info_idx
SELECT 33000 + i, i * i + 37 * i, 112, CONCAT(i), NULL FROM generate_series(1::bigint, 225::bigint) AS g(i);
INSERT INTO movie_info_idx
SELECT 33300 + i, 4001 + i * 997, 113, CONCAT(i), NULL FROM generate_series(1::bigint, 9::bigint) AS g(i);
INSERT INTO movie_info_idx VALUES
  (33400, 59950, 113, '10', NULL),
  (33401, 59950, 101, '1.7', NULL),
  (33402, 59954, 100, '62000', NULL),
  (33403, 59954, 101, '5.9', NULL),
  (33404, 59955, 100, '4100', NULL),
  (33405, 59956, 101, '6.1', NULL),
  (33406, 59957, 101, '2.8', NULL),
  (33407, 59958, 101, '8.2', NULL),
  (33408, 59947, 101, '7.2', NULL),
  (33409, 59948, 101, '7.5', NULL),
  (33410, 59964, 101, '7.9', NULL);
INSERT INTO movie_link
SELECT i, CASE WHEN h3 % 10 < 4 THEN 13 + 20 * ((1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000) / 20) WHEN h3 % 10 = 4 THEN 50 + 200 * (h1 % 290) ELSE 1 + ((3000 + h1 % 97000) * (3000 + h1 % 97000) - 9000000) * 6 / 1000000 END,
  CASE WHEN h3 % 10 < 2 THEN 13 + 20 * ((1 + ((3000 + h2 % 97000) * (3000 + h2 % 97000) - 9000000) * 6 / 1000000) / 20) WHEN h3 % 10 = 4 THEN 50 + 200 * (h2 % 290) ELSE 1 + ((3000 + h2 % 97000) * (3000 + h2 % 97000) - 9000000) * 6 / 1000000 END,
  CASE WHEN h3 % 10 < 5 THEN 1 + h4 % 2 WHEN h4 % 2 = 0 THEN 5 + h5 % 6 ELSE 1 + h5 % 18 END
FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4, x5 * x5 % 2147483647 AS h5 FROM (SELECT i, (i * 1103515245 + 215595) % 2147483647 AS x1, (i * 1664525003 + 320324) % 2147483647 AS x2, (i * 214013777 + 425053) % 2147483647 AS x3, (i * 69069133 + 529782) % 2147483647 AS x4, (i * 1284865837 + 634511) % 2147483647 AS x5 FROM generate_series(1::bigint, 3000::bigint) AS g(i)) y) z;
INSERT INTO movie_link VALUES
  (3001, 59953, 13, 1),
  (3002, 59956, 59957, 2),
  (3003, 59960, 33, 5),
  (3004, 1, 59962, 9),
  (3005, 59954, 15, 1);
INSERT INTO person_info
SELECT i, 1 + (h1 % 10000) * (h1 % 10000) * 60000 / 100000000, ty,
  CASE ty WHEN 22 THEN CONCAT(150 + h4 % 50, ' cm') WHEN 21 THEN CONCAT(1 + h3 % 28, ' ', (ARRAY['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'])[1 + h3 % 12], ' ', 1900 + h4 % 95) ELSE CONCAT('The ', (ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h3 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h4 % 30], ' of a ', (ARRAY['dark', 'lost', 'golden', 'silent', 'young', 'secret', 'broken', 'wild', 'last', 'hidden', 'red', 'blue', 'cold', 'old', 'new', 'strange', 'small', 'big', 'deep', 'far'])[1 + h4 % 20], ' ', (ARRAY['house', 'river', 'city', 'train', 'child', 'wife', 'brother', 'war', 'school', 'island', 'bridge', 'letter', 'garden', 'doctor', 'soldier', 'dog', 'horse', 'road', 'dance', 'song', 'prison', 'summer', 'winter', 'king', 'queen', 'ghost', 'dream', 'game', 'mother', 'father'])[1 + h3 % 30], ', no. ', i) END,
  CASE WHEN ty = 19 THEN CASE WHEN h4 % 100 < 12 THEN 'Volker Boehm' WHEN h4 % 100 < 70 THEN (ARRAY['Anonymous', 'Steve Shelokhonov', 'Jon C. Hopwood', 'Guy Bellinger', 'A. Nonymous'])[1 + h3 % 5] END END
FROM (SELECT i, h1, h3, h4, CASE WHEN h2 % 100 < 12 THEN 19 WHEN h2 % 100 < 30 THEN 17 WHEN h2 % 100 < 50 THEN 21 WHEN h2 % 100 < 65 THEN 20 WHEN h2 % 100 < 77 THEN 22 WHEN h2 % 100 < 85 THEN 26 ELSE 23 + h2 % 12 END AS ty FROM (SELECT i, x1 * x1 % 2147483647 AS h1, x2 * x2 % 2147483647 AS h2, x3 * x3 % 2147483647 AS h3, x4 * x4 % 2147483647 AS h4 FROM (SELECT i, (i * 1103515245 + 223514) % 2147483647 AS x1, (i * 1664525003 + 328243) % 2147483647 AS x2, (i * 214013777 + 432972) % 2147483647 AS x3, (i * 69069133 + 537701) % 2147483647 AS x4 FROM generate_series(1::bigint, 70000::bigint) AS g(i)) y) z) w;
INSERT INTO person_info VALUES
  (70001, 60001, 17, 'Lost her singing voice.', NULL),
  (70002, 60001, 22, '172 cm', NULL),
  (70003, 60006, 19, 'Dan Davies was born in Dover.', 'Volker Boehm');
create index company_id_movie_companies on movie_companies(company_id);
create index company_type_id_movie_companies on movie_companies(company_type_id);
create index info_type_id_movie_info_idx on movie_info_idx(info_type_id);
create index info_type_id_movie_info on movie_info(info_type_id);
create index info_type_id_person_info on person_info(info_type_id);
create index keyword_id_movie_keyword on movie_keyword(keyword_id);
create index kind_id_aka_title on aka_title(kind_id);
create index kind_id_title on title(kind_id);
create index linked_movie_id_movie_link on movie_link(linked_movie_id);
create index link_type_id_movie_link on movie_link(link_type_id);
create index movie_id_aka_title on aka_title(movie_id);
create index movie_id_cast_info on cast_info(movie_id);
create index movie_id_complete_cast on complete_cast(movie_id);
create index movie_id_movie_companies on movie_companies(movie_id);
create index movie_id_movie_info_idx on movie_info_idx(movie_id);
create index movie_id_movie_keyword on movie_keyword(movie_id);
create index movie_id_movie_link on movie_link(movie_id);
create index movie_id_movie_info on movie_info(movie_id);
create index person_id_aka_name on aka_name(person_id);
create index person_id_cast_info on cast_info(person_id);
create index person_id_person_info on person_info(person_id);
create index person_role_id_cast_info on cast_info(person_role_id);
create index role_id_cast_info on cast_info(role_id);
ANALYZE;
