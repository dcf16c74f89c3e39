//! `dbstow layout` of arms on managed services: the commands, their rollback, and what they cannot do.

use testing::folder::Folder;

/// Two arms on a service: `volumes` are sections of both, named from `today-` and `then-` on.
fn experiment(today: &str, then: &str, volumes: &str, placements: [&str; 2]) -> String {
    format!(
        "name = \"move\"\nquestion = \"Which?\"\n[machine]\ntype = \"{today}\"\n{volumes}[placement.today]\n{}\n[placement.then]\n{}\n\
         [arm.today]\nplacement = \"today\"\n[arm.then]\nplacement = \"then\"\nset = {{ \"machine.type\" = \"{then}\" }}\n\
         [workload]\nname = \"raw\"\nduration = \"2 s\"\n[workload.parameters]\nspan = \"256 MiB\"\n[engine]\nname = \"raw\"\n\
         [protocol]\nblocks = 1\nbaseline = \"today\"\nmetric = \"iops\"\n",
        placements[0], placements[1]
    )
}

fn all_on(volume: &str) -> String {
    ["data", "temp", "log"]
        .map(|role| format!("{role} = {{ volumes = \"{volume}\" }}"))
        .join("\n")
}

fn printed(text: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder = Folder::with(&[("move.toml", text)]);
    let arguments = [&["layout", "move.toml", "--arm"][..], arguments].concat();
    let printed = folder.printed(&arguments);
    (printed.code, printed.stdout, printed.stderr)
}

fn written(text: &str, arguments: &[&str]) -> String {
    let (code, out, error) = printed(text, arguments);
    assert_eq!(code, 0, "{error}");
    out
}

fn has(out: &str, parts: &[&str]) {
    for part in parts {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
}

const LARGE: &str = "aws.rds.postgresql.db.r6i.large";

fn postgres(then: &str, after: &str) -> String {
    let volumes =
        format!("[volume.a]\ndisk = \"aws.rds.gp3\"\nsize = \"399 GiB\"\n[volume.b]\n{after}\n");
    let places = [all_on("a"), all_on("b")];
    experiment(LARGE, then, &volumes, [&places[0], &places[1]])
}

#[test]
fn a_server_of_rds_is_changed_by_one_command_and_only_what_shrinks_has_no_way_back() {
    let text = postgres(
        "aws.rds.postgresql.db.r6i.xlarge",
        "disk = \"aws.rds.gp3\"\nsize = \"500 GiB\"\niops = 14_000",
    );
    let out = written(&text, &["then", "--server-name", "shop"]);
    has(
        &out,
        &[
            "aws rds modify-db-instance --db-instance-identifier shop --apply-immediately --db-instance-class db.r6i.xlarge \
             --allocated-storage 500 --iops 14000 --storage-throughput 500\n",
            "| class | db.r6i.large | db.r6i.xlarge | downtime",
            "==> 2-rollback.sh <==",
            "--apply-immediately --db-instance-class db.r6i.large\n",
            "The storage stays at 500 GiB",
            "USER_ModifyInstance.Settings.html",
        ],
    );
    assert!(!out.contains("% above"), "{out}");
}

/// 399 GiB and a tenth are 438.9 GiB.
#[test]
fn storage_that_grows_by_less_than_the_service_does_is_told_with_what_it_becomes() {
    let text = postgres(LARGE, "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"");
    let out = written(&text, &["then", "--server-name", "shop"]);
    has(
        &out,
        &[
            "less than 10 % above 399 GiB",
            "makes it 439 GiB",
            "Not rolled back",
        ],
    );
    assert!(!out.contains("2-rollback.sh <=="), "{out}");
}

#[test]
fn a_log_volume_comes_after_its_storage_and_goes_before_it() {
    let volumes = "disk = \"aws.rds.io2\"\nsize = \"500 GiB\"\niops = 3_000\n[volume.l]\ndisk = \"aws.rds.log_volume\"";
    let text = postgres(LARGE, volumes).replacen(
        "log = { volumes = \"b\" }",
        "log = { volumes = \"l\" }",
        1,
    );
    let out = written(&text, &["then", "--server-name", "shop"]);
    let at = |part: &str| {
        out.find(part)
            .unwrap_or_else(|| panic!("no {part} in {out}"))
    };
    assert!(at("--storage-type io2") < at(" --dedicated-log-volume"));
    assert!(at(" --dedicated-log-volume") < at("reboot-db-instance"));
    assert!(at(" --no-dedicated-log-volume") < at("--storage-type gp3"));
}

#[test]
fn temporary_files_leave_the_disk_of_a_class_by_its_parameter() {
    let text = postgres(
        "aws.rds.postgresql.db.r6idn.xlarge",
        "disk = \"aws.rds.gp3\"\nsize = \"500 GiB\"",
    );
    let (code, _, error) = printed(&text, &["then", "--server-name", "shop"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("--parameter-group"), "{error}");
    let out = written(
        &text,
        &["then", "--server-name", "shop", "--parameter-group", "mine"],
    );
    has(
        &out,
        &[
            "--db-parameter-group-name mine",
            "temp_tablespaces,ParameterValue=pg_default",
        ],
    );
}

#[test]
fn volumes_of_sql_server_are_added_and_files_move_there_by_backup_and_restore() {
    let volumes = "[volume.d]\ndisk = \"aws.rds.sqlserver.gp3\"\nsize = \"500 GiB\"\n\
                   [volume.h]\ndisk = \"aws.rds.sqlserver.io2\"\nsize = \"200 GiB\"\niops = 5_000\n";
    let apart = "data = { volumes = \"d\" }\ntemp = { volumes = \"d\" }\nlog = { volumes = \"h\" }";
    let class = "aws.rds.sqlserver.db.m5.xlarge";
    let text = experiment(class, class, volumes, [&all_on("d"), apart]);
    let (code, _, error) = printed(&text, &["then", "--server-name", "shop"]);
    assert_eq!(
        (code, error.contains("--database NAME")),
        (2, true),
        "{error}"
    );
    let out = written(
        &text,
        &["then", "--server-name", "shop", "--database", "it's"],
    );
    has(
        &out,
        &[
            "--additional-storage-volumes '[{\"VolumeName\":\"rdsdbdata2\",\"StorageType\":\"io2\",\"AllocatedStorage\":200,\"IOPS\":5000}]'",
            "| volume | - | H: aws.rds.sqlserver.io2, 200 GiB, 5000 IOPS |",
            "@source_db_name = N'it''s'",
            "@data_file_volume = 'D:', @log_file_volume = 'H:'",
            "H: stays, and is charged",
        ],
    );
}

#[test]
fn a_managed_instance_changes_its_tier_and_back() {
    let out = Folder::new().printed(&[
        "layout",
        "managed-instance-tiers",
        "--arm",
        "next-gen-bought",
        "--server-name",
        "mi1",
        "--resource-group",
        "sales (eu)",
    ]);
    assert_eq!(out.code, 2, "a space is in no name: {}", out.stderr);
    let out = Folder::new().printed(&[
        "layout",
        "managed-instance-tiers",
        "--arm",
        "next-gen-bought",
        "--server-name",
        "mi1",
        "--resource-group",
        "sales(eu)",
    ]);
    has(
        &out.stdout,
        &[
            "Set-AzSqlInstance -ResourceGroupName 'sales(eu)' -Name mi1 -Edition GeneralPurpose -IsGeneralPurposeV2 $true -VCore 8 \
             -StorageSizeInGB 1024 -StorageIOps 12800\n",
            "-IsGeneralPurposeV2 $false",
            "| class | azure-sql-mi-gp, vcores_8 | azure-sql-mi-nextgen, vcores_8 |",
        ],
    );
}

#[test]
fn what_is_no_change_in_place_is_refused_in_one_line() {
    let same = postgres(LARGE, "disk = \"aws.rds.gp3\"\nsize = \"399 GiB\"");
    let moved = |from: &str| {
        let text = postgres(LARGE, "disk = \"aws.rds.gp3\"\nsize = \"500 GiB\"");
        let text = text.replace(
            "[volume.a]\ndisk = \"aws.rds.gp3\"",
            "[volume.a]\ndisk = \"aws.gp3\"",
        );
        text.replacen(LARGE, from, 1)
    };
    let from_machine = moved("aws.r6i.large");
    let server = ["then", "--server-name", "shop"];
    for (text, arguments, parts) in [
        (
            &same,
            &["then"][..],
            &["nothing to change", "name another arm"][..],
        ),
        (
            &same,
            &["today", "--server-name", "a"],
            &["is the baseline"],
        ),
        (
            &same,
            &["then", "--server-name", "a b"],
            &["--server-name a b"],
        ),
        (
            &same,
            &["then", "--server-name", "a", "--volume", "b=/x"],
            &["--volume: the arm is on"],
        ),
        (
            &from_machine,
            &server,
            &["aws.r6i.large", "create a new server"],
        ),
    ] {
        let (code, _, error) = printed(text, arguments);
        assert_eq!(code, 2, "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        has(&error, parts);
    }
    let out = Folder::new().printed(&[
        "layout",
        "postgres-iops",
        "--arm",
        "x",
        "--server-name",
        "a",
    ]);
    assert_eq!(out.code, 2, "{}", out.stderr);
}
