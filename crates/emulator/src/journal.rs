//! Where the journal of a file system is in its image.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// Of ext4's superblock: <https://docs.kernel.org/filesystems/ext4/super.html>, read 2026-11-24. It holds a copy of the journal's
/// inode, from `s_jnl_blocks` on.
const SUPERBLOCK: u64 = 1024;
const MAGIC: Range<usize> = 0x38..0x3a;
const LOG_BLOCK_SIZE: Range<usize> = 0x18..0x1c;
const JOURNAL_BLOCKS: usize = 0x10c;

/// Of an extent tree: <https://docs.kernel.org/filesystems/ext4/ifork.html#extent-tree>, read 2026-11-24. Its head and every
/// extent have this length.
const ENTRY: usize = 12;

/// Ranges of the journal in an ext4 image; empty if it has none, or more than the superblock lists.
///
/// # Errors
/// When the image cannot be read.
pub(super) fn of_ext4(image: &File) -> io::Result<Vec<Range<u64>>> {
    let mut block = [0; 1024];
    image.read_exact_at(&mut block, SUPERBLOCK)?;
    let number = |range: Range<usize>| {
        let bytes = block[range].iter().rev();
        bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let head = JOURNAL_BLOCKS;
    let depth = number(head + 6..head + 8);
    if number(MAGIC) != 0xef53 || number(head..head + 2) != 0xf30a || depth != 0 {
        return Ok(Vec::new());
    }
    let size = 1024_u64 << number(LOG_BLOCK_SIZE).min(6);
    let extents = (1..=number(head + 2..head + 4).min(4) as usize).map(|place| {
        let at = head + place * ENTRY;
        let start = number(at + 6..at + 8) << 32 | number(at + 8..at + 12);
        start * size..(start + number(at + 4..at + 6)) * size
    });
    Ok(extents.collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Matches `debugfs`.
    #[test]
    fn the_journal_is_where_e2fsprogs_says() {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(300 << 20).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            let output = command.args(arguments).arg(image.path()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(of_ext4(image.as_file()).unwrap(), []);
        run("mkfs.ext4", &["-q", "-F", "-b", "4096"]);
        let found = of_ext4(image.as_file()).unwrap();
        // (0-4095):32768-36863
        let said = run("debugfs", &["-R", "stat <8>"]);
        let extents = said.lines().last().unwrap().split(", ").map(|extent| {
            let (_, blocks) = extent.split_once("):").unwrap();
            let (first, last) = blocks.split_once('-').unwrap();
            let first: u64 = first.trim().parse().unwrap();
            let last: u64 = last.trim().parse().unwrap();
            first * 4096..(last + 1) * 4096
        });
        assert_eq!(found, extents.collect::<Vec<_>>(), "{said}");
    }
}
