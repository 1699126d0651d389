//! Container images: made from the installed PostgreSQL, copied by skopeo into a registry and into
//! files, and run from there. Needs both programs, which scripts/setup.sh unpacks.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use dbms::{Cache, Error, Installation, Program, ProgramSource, Reference, ServerUser};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::common::{Place, Variant};

/// PostgreSQL as Debian installs it.
const INSTALLED: &str = "usr/lib/postgresql/15";
/// What initdb and a server read.
const PARTS: [&str; 4] = [
    "usr/lib/postgresql/15/bin",
    "usr/lib/postgresql/15/lib/plpgsql.so",
    "usr/lib/postgresql/15/lib/dict_snowball.so",
    "usr/share/postgresql/15",
];

/// Where scripts/setup.sh unpacks the programs, as root and otherwise.
const TOOLS: [&str; 2] = [
    "/var/cache/steelyard-test/registry/usr",
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/registry/usr"),
];

/// One of the programs, run as the servers' user.
fn tool(name: &str) -> Command {
    let tools = TOOLS.map(Path::new).into_iter().find(|place| place.is_dir());
    let tools = tools.unwrap_or(Path::new(TOOLS[1]));
    let libraries = tools.join(format!("lib/{}-linux-gnu", std::env::consts::ARCH));
    let user = ServerUser::choose(None).unwrap();
    let mut command = dbms::command(tools.join("bin").join(name), &user, &[]).unwrap();
    command.env("LD_LIBRARY_PATH", libraries);
    command
}

/// A layer, uncompressed: paths below `/`, links as what they lead to, and other files with their
/// content.
fn layer(paths: &[PathBuf], files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for path in paths {
        let whole = Path::new("/").join(path);
        if whole.is_dir() {
            tar.append_dir_all(path, &whole).unwrap();
        } else {
            tar.append_path_with_name(&whole, path).unwrap();
        }
    }
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

/// Writes an image in the OCI layout.
fn write_layout(into: &Path, layers: &[Vec<u8>], architecture: &str) {
    let blobs = into.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    let keep = |bytes: &[u8], kind: &str| {
        let digest = digest(bytes);
        fs::write(blobs.join(digest.trim_start_matches("sha256:")), bytes).unwrap();
        let kind = format!("application/vnd.oci.image.{kind}");
        json!({ "mediaType": kind, "digest": digest, "size": bytes.len() })
    };
    let packed = |tar: &Vec<u8>| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(tar).unwrap();
        keep(&packed.finish().unwrap(), "layer.v1.tar+gzip")
    };
    let found: Vec<_> = layers.iter().map(packed).collect();
    let unpacked: Vec<String> = layers.iter().map(|tar| digest(tar)).collect();
    let rootfs = json!({ "type": "layers", "diff_ids": unpacked });
    let config = json!({ "os": "linux", "architecture": architecture, "rootfs": rootfs });
    let config = keep(config.to_string().as_bytes(), "config.v1+json");
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": found,
    });
    let manifest = keep(manifest.to_string().as_bytes(), "manifest.v1+json");
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(into.join("index.json"), index.to_string()).unwrap();
    fs::write(into.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
}

fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

/// The libraries of the installed server and its loader, by ldd, as paths below `/`.
fn libraries() -> Vec<PathBuf> {
    let server = Path::new("/").join(INSTALLED).join("bin/postgres");
    let said = Command::new("ldd").arg(server).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let words = said.split_whitespace().filter_map(|word| word.strip_prefix('/'));
    words.map(PathBuf::from).collect()
}

/// A registry on this machine, ended when dropped.
struct Registry {
    process: Child,
    host: String,
}

impl Registry {
    fn start(place: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host = format!("127.0.0.1:{port}");
        let storage = place.join("registry");
        let configuration = format!(
            "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: {}\n\
             http:\n  addr: {host}\n",
            storage.display()
        );
        let file = place.join("registry.yml");
        fs::write(&file, configuration).unwrap();
        let log = File::create(place.join("registry.log")).unwrap();
        let mut command = tool("docker-registry");
        command.arg("serve").arg(&file).stdout(log.try_clone().unwrap()).stderr(log);
        let process = command.spawn().unwrap();
        let begin = std::time::Instant::now();
        while TcpStream::connect(&host).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the registry does not answer");
            sleep(Duration::from_millis(20));
        }
        Self { process, host }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn done(output: Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn copy(from: &str, to: &str) {
    copy_with(&[], from, to);
}

fn copy_with(options: &[&str], from: &str, to: &str) {
    let mut skopeo = tool("skopeo");
    skopeo.args([
        "--insecure-policy",
        "--tmpdir",
        "/var/tmp",
        "copy",
        "--dest-tls-verify=false",
        "--dest-no-creds",
    ]);
    done(skopeo.args(options).args([from, to]).output().unwrap());
}

/// The manifest of an image in the registry.
fn manifest(name: &str) -> String {
    let mut skopeo = tool("skopeo");
    skopeo.args(["--insecure-policy", "inspect", "--raw", "--tls-verify=false"]);
    let told = skopeo.arg(format!("docker://{name}")).output().unwrap();
    String::from_utf8_lossy(&told.stdout).into_owned()
}

/// What obtaining an image gives, and what is said about it.
fn obtain(text: &str, cache: &Cache) -> (Result<Installation, Error>, String) {
    let said = std::cell::RefCell::new(String::new());
    let reference: Reference = text.parse().unwrap();
    let found = dbms::obtain(&reference, cache, &|line| {
        said.borrow_mut().push_str(line);
        said.borrow_mut().push('\n');
    });
    (found, said.into_inner())
}

/// The parts that a test needs; `None`, with the reason printed, if this machine lacks one.
fn place() -> Option<(Place, Cache)> {
    let skopeo = PathBuf::from(tool("skopeo").get_program());
    for needed in [skopeo, Path::new("/").join(INSTALLED).join("bin/initdb")] {
        if !needed.exists() {
            testing::skip(format_args!("there is no {}", needed.display()));
            return None;
        }
    }
    let place = Place::new();
    let cache = Cache::at(place.path().join("cache")).unwrap();
    // The registry and skopeo run as the servers' user.
    for name in ["", "files"] {
        fs::create_dir_all(place.path().join(name)).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(place.path().join(name), open).unwrap();
    }
    Some((place, cache))
}

/// A program that another machine has packed.
struct Sent {
    program: Program,
    packed: PathBuf,
}

impl ProgramSource for Sent {
    fn find(&self, reference: &str) -> Option<Program> {
        (reference == self.program.reference).then(|| self.program.clone())
    }

    fn fetch(&self, _: &Program, to: &Path) -> Result<String, String> {
        fs::copy(&self.packed, to).unwrap();
        Ok("here".to_owned())
    }
}

#[test]
fn images_run_with_their_own_libraries() {
    let Some((place, cache)) = place() else { return };
    let files = place.path().join("files");
    let [oci, saved] = ["oci", "postgres.tar"].map(|name| files.join(name));
    let base = layer(&[libraries(), vec!["etc/ld.so.conf".into()]].concat(), &[("etc/gone", "x")]);
    let server = layer(&PARTS.map(PathBuf::from), &[("etc/.wh.gone", "")]);
    write_layout(&oci, &[base.clone(), server], architecture());
    let registry = Registry::start(&files);
    let name = format!("image:{}/team/postgres:15", registry.host);
    copy(&format!("oci:{}", oci.display()), &format!("docker://{}", &name[6..]));
    copy(&format!("oci:{}", oci.display()), &format!("docker-archive:{}", saved.display()));

    let (installation, said) = obtain(&name, &cache);
    let installation = installation.unwrap();
    assert!(said.contains("fetching image:127.0.0.1:"), "{said}");
    let exact = format!("{name}@{}", installation.build["image"]);
    assert_eq!(installation.source, exact);
    // By its digest it is the same, and in the cache.
    let (again, said) = obtain(&exact, &cache);
    assert_eq!((again.unwrap(), said), (installation.clone(), String::new()));
    // So are the files, which have other names, and the same layers compressed by zstd.
    let zstd = format!("{}-zstd", &name[6..]);
    let options = ["--format", "oci", "--dest-compress-format", "zstd"];
    copy_with(
        &options,
        &format!("docker-archive:{}", saved.display()),
        &format!("docker://{zstd}"),
    );
    assert!(manifest(&zstd).contains("layer.v1.tar+zstd"), "{}", manifest(&zstd));
    for other in [oci.display().to_string(), saved.display().to_string(), zstd] {
        let found = obtain(&format!("postgres@image:{other}"), &cache).0.unwrap();
        let [one, other] = [&installation, &found].map(|it| &it.build[dbms::builds::SERVER_HASH]);
        assert_eq!((one, &found.version), (other, &installation.version));
    }
    assert!(!installation.bin_dir.as_ref().unwrap().join("../../../../../etc/gone").exists());

    let variant = Variant { name: "image".to_owned(), installation };
    let directory = place.trial();
    let mut running = dbms::start(place.spec(&variant, &directory)).unwrap();
    let version = running.need_sql().unwrap().query_rows("SELECT version()").unwrap();
    assert!(version[0][0].as_ref().unwrap().starts_with("PostgreSQL 15."), "{version:?}");
    let pid = running.root_pid().unwrap();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let root = cache.path().display().to_string();
    for mapped in maps.lines().filter_map(|line| line.split_whitespace().nth(5)) {
        let own = mapped.starts_with(&root) || !mapped.contains(".so");
        assert!(own, "{mapped} is not in the image");
    }
    assert!(maps.contains("/libc.so.6"), "{maps}");
    running.stop().unwrap();

    // A tag that moves is said, and its digest still names the old one.
    let moved = layer(&PARTS.map(PathBuf::from), &[("etc/new", "")]);
    fs::remove_dir_all(&oci).unwrap();
    write_layout(&oci, &[base, moved], architecture());
    copy(&format!("oci:{}", oci.display()), &format!("docker://{}", &name[6..]));
    let (moved, said) = obtain(&name, &cache);
    let moved = moved.unwrap();
    assert!(said.contains("has moved") && said.contains(&variant.installation.build["image"]));
    assert_ne!(moved.source, exact);
    assert_eq!(obtain(&exact, &cache).0.unwrap(), variant.installation);
    drop(registry);
    // Without the registry, too.
    assert_eq!(obtain(&exact, &cache).0.unwrap(), variant.installation);
    let error = obtain(&name, &cache).0.unwrap_err().to_string();
    assert!(error.contains(&format!("fetch {name}")), "{error}");
    // Another machine gets it from this one, even by its tag.
    let (reference, other) = (name.parse().unwrap(), files.join("other"));
    let program = Program::of(&reference, &variant.installation, &cache).unwrap();
    assert!(program.shared_name().starts_with("sent-image-"), "{}", program.shared_name());
    let packed = files.join("packed");
    program.pack(&cache, &packed).unwrap();
    dbms::obtain_programs_from(Arc::new(Sent { program, packed }));
    let (sent, said) = obtain(&name, &Cache::at(&other).unwrap());
    let sent = sent.unwrap();
    assert!(said.contains(": obtained here, unpacked into "), "{said}");
    assert!(sent.bin_dir.as_ref().unwrap().starts_with(other), "{sent:?}");
    assert_eq!((sent.version, sent.source), (variant.installation.version, exact));
    fs::remove_dir_all(files).unwrap();
    place.assert_clean();
}

#[test]
fn images_that_cannot_be_used_are_refused() {
    let Some((place, cache)) = place() else { return };
    let files = place.path().join("files");
    let registry = Registry::start(&files);
    let image = |name: &str| format!("postgres@image:{}/{name}", registry.host);
    let make = |name: &str, layers: &[Vec<u8>], architecture: &str| {
        let layout = files.join(name);
        write_layout(&layout, layers, architecture);
        let to = format!("docker://{}/{name}:latest", registry.host);
        copy(&format!("oci:{}", layout.display()), &to);
        layout
    };
    let nothing = layer(&[], &[("etc/file", "x")]);
    make("foreign", std::slice::from_ref(&nothing), "s390x");
    let damaged = make("empty", &[nothing], architecture());
    let blobs = fs::read_dir(damaged.join("blobs/sha256")).unwrap().flatten();
    let sizes = blobs.map(|entry| (entry.metadata().unwrap().len(), entry.path()));
    let (_, smallest) = sizes.min().unwrap();
    let mut bytes = fs::read(&smallest).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&smallest, bytes).unwrap();
    let reference: Reference = image("empty").parse().unwrap();
    let interrupted = AtomicBool::new(true);
    let stopped = dbms::obtain_interruptible(&reference, &cache, None, &interrupted, &|_| ());
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    for (text, said) in [
        (image("none"), "the registry does not have it"),
        (image("foreign"), "linux/s390x, not for linux/"),
        (format!("postgres@image:{}", damaged.display()), "expected content with the digest"),
        (image("empty"), "bin/postgres"),
        ("postgres@image:/nonexistent.tar".to_owned(), "/nonexistent.tar"),
    ] {
        let error = obtain(&text, &cache).0.unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let left = fs::read_dir(cache.path()).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.path().is_dir()).collect();
    // That of the image without a server, which may serve another system.
    assert_eq!(left.len(), 1, "{left:?}");
    drop(registry);
}

/// A registry whose tokens come from elsewhere, as Docker Hub's do. It answers five requests.
#[test]
fn a_token_is_fetched_where_the_registry_says() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let realm = format!("http://{host}/token");
    let server = std::thread::spawn(move || {
        let mut asked = Vec::new();
        while asked.len() < 3 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                request.push(byte[0]);
            }
            let request = String::from_utf8(request).unwrap();
            let authorized = request.to_lowercase().contains("authorization: bearer t0ken");
            let (status, header, body) = match request.split(' ').nth(1).unwrap() {
                path if path.starts_with("/token?") => ("200 OK", "", r#"{"token":"T0ken"}"#),
                _ if authorized => ("404 Not Found", "", ""),
                _ => ("401 Unauthorized", "WWW-Authenticate: Bearer realm=", ""),
            };
            let header = match header {
                "" => String::new(),
                header => format!("{header}\"{realm}\",service=\"s\",scope=\"a:b\"\r\n"),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
            asked.push(request.lines().next().unwrap().to_owned());
        }
        asked
    });
    let directory = testing::directory();
    let cache = Cache::at(directory.path()).unwrap();
    let error = obtain(&format!("image:{host}/postgres:17"), &cache).0.unwrap_err().to_string();
    assert!(error.contains("the registry does not have it"), "{error}");
    let asked = server.join().unwrap();
    assert!(
        asked[1].starts_with("GET /token?service=s&scope=a") && asked[0] == asked[2],
        "{asked:?}"
    );
}
