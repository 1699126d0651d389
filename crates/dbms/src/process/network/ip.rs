//! The program `ip`, which configures network interfaces.

use std::fs::File;
use std::path::PathBuf;

use crate::process::launch;
use crate::{Error, ServerUser, Transport};

/// Where distributions have `ip`.
const PLACES: [&str; 4] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"];

/// The program `ip`.
pub(super) fn program() -> Result<PathBuf, Error> {
    PLACES.iter().map(PathBuf::from).find(|path| path.exists()).ok_or_else(|| {
        let problem = "it needs the program `ip`, which this machine does not have; install \
                       iproute2 (Debian and Ubuntu: apt-get install iproute2)";
        Error::transport(Transport::Veth, problem)
    })
}

/// Runs commands of `ip`, one per line, up to the first that fails; in `namespace`, if given.
pub(super) fn run(namespace: Option<&File>, what: &str, lines: &[String]) -> Result<String, Error> {
    let program = program()?;
    let cloned = namespace.map(File::try_clone).transpose().map_err(Error::io("run", &program))?;
    let user = ServerUser::caller();
    let run = |arguments: &[&str], input: Option<&str>| {
        let mut command = launch::command_in(cloned, libc::SIGKILL, &program, &user, &[])?;
        command.args(arguments);
        launch::run(command, what, input)
    };
    match lines {
        // Its output differs in a batch.
        [line] => run(&line.split(' ').collect::<Vec<_>>(), None),
        lines => run(&["-batch", "-"], Some(&format!("{}\n", lines.join("\n")))),
    }
}
