//! Simulated searches with known truth. The tables of VALIDATION.md have many more.

use suspect::{Candidate, Effort, Look, Posterior, Range, Rest, Settings};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers in every run.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.uniform() * bound as f64) as usize).min(bound - 1)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The mean of six restarts that differ by 1%.
    fn look(&mut self, candidate: usize, level: f64) -> Look {
        let restarts: [f64; 6] = std::array::from_fn(|_| level + 0.01 * self.normal());
        let log_ratio = judge::mean(&restarts).unwrap();
        let error = judge::sd_sample(&restarts).unwrap() / 6.0_f64.sqrt();
        Look { candidate, log_ratio, error, freedom: 5.0 }
    }
}

struct Search {
    /// Those found, without those that are there.
    wrong: usize,
    found: usize,
    nothing: bool,
    looks: usize,
}

/// Searches until everything is known, for up to 150 looks.
fn search(last: usize, truth: &[(usize, f64)], failing: f64, random: &mut Random) -> Search {
    let fails: Vec<bool> = (0..=last).map(|_| random.uniform() < failing).collect();
    let settings = Settings::within(judge::Margin::of(0.01));
    let candidates = vec![Candidate { build: 2.0, ..Candidate::default() }; last + 1];
    let mut range = Range::new(candidates, settings).unwrap();
    let mut looks = Vec::new();
    loop {
        let posterior = Posterior::new(&range, &looks).unwrap();
        let verdict = posterior.verdict();
        let next = posterior.next(Effort { error: 0.004, most: 1 });
        let Some(next) = next.filter(|_| looks.len() < 150) else {
            let right =
                |suspects: &[usize]| truth.iter().any(|(change, _)| suspects.contains(change));
            let found = verdict.culprits.iter().filter(|one| right(&one.suspects)).count();
            return Search {
                wrong: verdict.culprits.len() - found,
                found,
                nothing: matches!(verdict.rest, Rest::Nothing { .. }),
                looks: looks.len(),
            };
        };
        if fails[next.candidate] && next.candidate != last {
            range.fails(next.candidate);
            continue;
        }
        range.built(next.candidate);
        let passed = truth.iter().filter(|(change, _)| *change <= next.candidate);
        looks.push(random.look(next.candidate, passed.map(|(_, size)| size).sum()));
    }
}

#[test]
fn the_culprit_is_found_and_no_other() {
    let mut random = Random(1);
    for (last, failing) in [(8, 0.0), (64, 0.2), (1000, 0.0)] {
        let searches: Vec<Search> = (0..60)
            .map(|_| {
                let change = 1 + random.below(last);
                search(last, &[(change, -0.03)], failing, &mut random)
            })
            .collect();
        let wrong = searches.iter().filter(|search| search.wrong > 0).count();
        let found = searches.iter().filter(|search| search.found == 1 && search.nothing).count();
        let looks = searches.iter().map(|search| search.looks).sum::<usize>() / 60;
        println!("{last}: {wrong} wrong, {found} found, {looks} looks");
        assert!(wrong <= 2 && found >= 57, "{last}: {wrong} wrong, {found} found of 60");
        assert!(looks < 50, "{last}: {looks} looks");
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let mut random = Random(2);
    let searches: Vec<Search> = (0..120).map(|_| search(100, &[], 0.1, &mut random)).collect();
    let wrong = searches.iter().filter(|search| search.wrong > 0).count();
    let nothing = searches.iter().filter(|search| search.nothing).count();
    assert!(wrong <= 2 && nothing >= 114, "{wrong} wrong, {nothing} of 120");
}

#[test]
fn two_changes_are_found_one_after_another() {
    let mut random = Random(3);
    for sizes in [[0.03, 0.03], [0.04, -0.04]] {
        let searches: Vec<Search> = (0..40)
            .map(|_| {
                let first = 1 + random.below(40);
                let second = first + 40 + random.below(20);
                search(100, &[(first, sizes[0]), (second, sizes[1])], 0.0, &mut random)
            })
            .collect();
        let wrong: usize = searches.iter().map(|search| search.wrong).sum();
        let both = searches.iter().filter(|search| search.found == 2 && search.nothing).count();
        println!("{sizes:?}: {wrong} wrong, both in {both}");
        assert!(wrong <= 2 && both >= 34, "{sizes:?}: {wrong} wrong, both in {both} of 40");
    }
}
