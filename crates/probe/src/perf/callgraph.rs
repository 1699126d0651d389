//! How to unwind a program's call stacks.

use std::fs;
use std::io;
use std::path::Path;

/// How to find the callers of a function at a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallGraph {
    /// By following frame pointers: cheap, for programs built with `-fno-omit-frame-pointer`.
    FramePointers,
    /// From a copy of the stack, unwound afterwards with `.eh_frame`, which every program has.
    Dwarf,
}

/// Bytes of the stack to copy with each sample. Deep in the executor, and with the parser's tables
/// (`base_yyparse` alone has about 5 KB), a backend's stack exceeds perf's default of 8 KB. A
/// truncated stack lacks its outermost functions.
const STACK: u32 = 16 * 1024;

/// `push %rbp; mov %rsp,%rbp`, with which a function on x86-64 sets up its frame pointer.
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];

/// Number of functions that set up a frame pointer from which a program counts as built with them.
/// Compilers do so in some functions of any program (those with `alloca`): a few dozen in servers
/// built without, over ten thousand in those built with.
const MANY: usize = 2000;

impl CallGraph {
    /// The best method for a program, judging by the prologues of its functions. They are only
    /// meaningful on x86-64; elsewhere it is [`CallGraph::Dwarf`], which always works.
    ///
    /// # Errors
    /// If the file cannot be read.
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

    /// The argument of `perf record --call-graph`.
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
