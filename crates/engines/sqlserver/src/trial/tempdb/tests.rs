use crate::tsql::{Growth, MaxSize};

use super::*;

#[test]
fn logs_are_zeroed_at_a_start_and_data_files_where_the_service_has_to() {
    // 64 MiB a file before; one data file of 1 GiB and a log of 16 MiB are wanted.
    let before = [
        present(1, "tempdev", "C:\\tempdb.mdf"),
        present(2, "templog", "C:\\templog.ldf"),
    ];
    let sized = |file: &TempdbFile, mib| FileSpec {
        size: Some(Size::mib(mib).expect("a size")),
        ..file.spec()
    };
    let wanted = Wanted {
        data: vec![sized(&before[0], 1024)],
        log: vec![sized(&before[1], 16)],
    };
    assert_eq!(wanted.zeroed(&before, true), 64 << 20);
    assert_eq!(wanted.zeroed(&before, false), (1024 + 64) << 20);
}

fn present(id: i64, name: &str, path: &str) -> TempdbFile {
    TempdbFile {
        kind: if id == 2 { Kind::Log } else { Kind::Data },
        id,
        name: Name::new(name).expect("a name"),
        path: Some(FilePath::new(path).expect("a path")),
        size: Size::mib(64).expect("a size"),
        max: MaxSize::Unlimited,
        growth: Growth::By(Size::mib(64).expect("a size")),
    }
}

#[test]
fn however_often_tempdb_moved_the_way_back_leads_to_the_beginning() {
    let original = vec![
        present(1, "tempdev", "C:\\Data\\tempdb.mdf"),
        present(2, "templog", "C:\\Data\\templog.ldf"),
    ];
    // The previous arm had two more files, the next has a single one.
    let before = [
        present(1, "tempdev", "D:\\dbstow_1_temp_1.mdf"),
        present(2, "templog", "D:\\dbstow_1_templog.ldf"),
        present(3, "dbstow_temp_2", "D:\\dbstow_1_temp_2.ndf"),
        present(4, "dbstow_temp_3", "D:\\dbstow_1_temp_3.ndf"),
    ];
    let wanted = Wanted {
        data: vec![present(1, "tempdev", "F:\\dbstow_1_temp_1.mdf").spec()],
        log: vec![present(2, "templog", "F:\\dbstow_1_templog.ldf").spec()],
    };

    let back = way_back(original, &before, &wanted).expect("a plan");

    let text = |statements: &[Statement]| script(statements);
    let undo = text(&back.undo);
    assert!(
        undo.contains("C:\\Data\\tempdb.mdf") && undo.contains("C:\\Data\\templog.ldf"),
        "{undo}"
    );
    let after = text(&back.after_undo);
    let rescue = text(&back.rescue);
    for added in ["dbstow_temp_2", "dbstow_temp_3"] {
        assert!(after.contains(added), "{after}");
        assert!(rescue.contains(added), "{rescue}");
    }
    assert!(
        !rescue.contains("D:\\") && !rescue.contains("F:\\"),
        "{rescue}"
    );
}

#[test]
fn what_an_arm_removed_is_added_again_on_the_way_back() {
    let original = vec![
        present(1, "tempdev", "C:\\Data\\tempdb.mdf"),
        present(2, "templog", "C:\\Data\\templog.ldf"),
        present(3, "temp2", "C:\\Data\\temp2.ndf"),
    ];
    let away = |size: u32| Wanted {
        data: vec![FileSpec {
            size: Some(Size::mib(size).expect("a size")),
            ..present(1, "tempdev", "D:\\dbstow_1_temp_1.mdf").spec()
        }],
        log: vec![present(2, "templog", "D:\\dbstow_1_templog.ldf").spec()],
    };
    let home = Wanted {
        data: vec![original[0].spec(), original[2].spec()],
        log: vec![original[1].spec()],
    };
    let moved = [
        present(1, "tempdev", "D:\\dbstow_1_temp_1.mdf"),
        present(2, "templog", "D:\\dbstow_1_templog.ldf"),
    ];
    // On the way there, and on the way home.
    for (present, wanted) in [(&original[..], away(64)), (&moved[..], home)] {
        let back = way_back(original.clone(), present, &wanted).expect("a plan");
        let undo = script(&back.undo);
        assert!(
            undo.contains("ADD FILE") && undo.contains("C:\\Data\\temp2.ndf"),
            "{undo}"
        );
        assert!(undo.contains("C:\\Data\\tempdb.mdf"), "{undo}");
    }
    // Grown in the previous arm, and small in the next: it is restored to its original size.
    let mut large = moved.clone();
    large[0].size = Size::mib(4096).expect("a size");
    let back = way_back(original, &large, &away(8)).expect("a plan");
    assert!(
        script(&back.undo).contains("SHRINKFILE"),
        "{}",
        script(&back.undo)
    );
}
