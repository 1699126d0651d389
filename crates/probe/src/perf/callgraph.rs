//! How a program's call stacks can be followed.

use std::fs;
use std::io;
use std::path::Path;

/// How the callers of a function are found at a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallGraph {
    /// By the chain of frame pointers: cheap, for programs built with `-fno-omit-frame-pointer`.
    FramePointers,
    /// By a copy of the stack, unwound afterwards with `.eh_frame`, which every program has.
    Dwarf,
}

/// Bytes of the stack that are copied with each sample. Deep in the executor and with the parser's
/// tables (`base_yyparse` has some 5 KB of its own) a backend's stack is over perf's default of 8
/// KB; what is cut off lacks its outermost functions.
const STACK: u32 = 16 * 1024;

/// `push %rbp; mov %rsp,%rbp`, with which a function on x86-64 sets up its frame pointer.
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];

/// Functions that set up a frame pointer from which a program counts as built with them. Compilers
/// do so in single functions of any program (those with `alloca`): in servers built without, some
/// dozens; built with, over ten thousand.
const MANY: usize = 2000;

impl CallGraph {
    /// What suits a program, by the prologues of its functions. Only on x86-64 something can be
    /// told from them; elsewhere it is [`CallGraph::Dwarf`], which always works.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_program(path: &Path) -> io::Result<CallGraph> {
        if !cfg!(target_arch = "x86_64") {
            return Ok(CallGraph::Dwarf);
        }
        Ok(Self::of_code(&fs::read(path)?))
    }

    fn of_code(code: &[u8]) -> CallGraph {
        let prologues = code.windows(PROLOGUE.len()).filter(|bytes| *bytes == PROLOGUE).take(MANY);
        if prologues.count() >= MANY { CallGraph::FramePointers } else { CallGraph::Dwarf }
    }

    /// What `perf record --call-graph` takes.
    pub(super) fn argument(self) -> String {
        match self {
            CallGraph::FramePointers => "fp".to_owned(),
            CallGraph::Dwarf => format!("dwarf,{STACK}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_prologues() {
        let mut code = vec![0x90; 1000];
        assert_eq!(CallGraph::of_code(&code), CallGraph::Dwarf);
        for _ in 0..MANY - 1 {
            code.extend([0xf3, 0x0f, 0x1e, 0xfa]);
            code.extend(PROLOGUE);
        }
        assert_eq!(CallGraph::of_code(&code), CallGraph::Dwarf);
        code.extend(PROLOGUE);
        assert_eq!(CallGraph::of_code(&code), CallGraph::FramePointers);
    }
}
