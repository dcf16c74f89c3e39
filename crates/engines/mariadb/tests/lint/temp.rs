//! Temporary files and tables.

use crate::support::{GIB, assert_says, counted, good, good_mysql, on, remote, with};

fn in_memory() -> mariadb::capture::Capture {
    on(good(), "/fast", |volume| {
        volume.file_system = "tmpfs".into();
        volume.disks.clear();
        volume.solid_state = None;
    })
}

#[test]
fn spills_into_memory_are_found_and_an_idle_tmpfs_is_noted() {
    let rule = "tmpdir-in-memory";
    assert_says(&good(), rule, "fine: temporary files are on disk");
    assert_says(
        &in_memory(),
        rule,
        "medium: sorts and temporary tables spill to /fast/tmp",
    );
    let idle = [("Created_tmp_disk_tables", 0), ("Sort_merge_passes", 0)];
    assert_says(
        &counted(in_memory(), &idle),
        rule,
        "note: /fast/tmp is in memory",
    );
    // The file system has 100 GiB.
    for (limit, said) in [(10 * GIB, "exempt (limited)"), (200 * GIB, "medium: ")] {
        let limit = limit.to_string();
        let limited = with(in_memory(), &[("max_tmp_total_space_usage", &limit)]);
        assert_says(&limited, rule, said);
    }
    assert_says(
        &remote(),
        rule,
        "cannot tell: the file system under /fast/tmp",
    );
}

#[test]
fn many_tables_on_the_datas_device_are_found() {
    let rule = "tmpdir-with-data";
    assert_says(&good(), rule, "fine: tmpdir does not share");
    let shared = with(good(), &[("tmpdir", "/fast/tmp:/data/mysql")]);
    // A tenth of them are on disk.
    assert_says(&shared, rule, "fine: 10 % of 1000000 temporary tables");
    // 300,000 of 1,000,000 in 24 h are 30 % and 12,500 an hour.
    let many = counted(shared.clone(), &[("Created_tmp_disk_tables", 300_000)]);
    assert_says(
        &many,
        rule,
        "low: 30 % of 1000000 temporary tables are made on disk, 12500 an hour",
    );
    // 30 % again, but 125 an hour.
    let few = [
        ("Created_tmp_disk_tables", 3000),
        ("Created_tmp_tables", 10_000),
    ];
    assert_says(&counted(shared, &few), rule, "fine: 30 %");
    assert_says(&remote(), rule, "cannot tell: whether tmpdir shares");
}

#[test]
fn a_file_of_temporary_tables_wants_a_limit() {
    let rule = "temp-tablespace-unbounded";
    assert_says(&good(), rule, "fine: ibtmp1:12M:autoextend:max:20G");
    let open = with(
        good(),
        &[("innodb_temp_data_file_path", "ibtmp1:12M:autoextend")],
    );
    assert_says(&open, rule, "low: ");
    let apart = "/fast/tmp/ibtmp1:12M:autoextend";
    let apart = with(good(), &[("innodb_temp_data_file_path", apart)]);
    assert_says(&apart, rule, "note: ");
    assert_says(&good_mysql(), rule, "not applicable: for MariaDB");
}
