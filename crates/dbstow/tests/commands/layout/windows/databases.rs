//! Scripts for a new database.

use super::*;

#[test]
fn files_of_a_new_database_are_distributed_over_volumes() {
    let mut asked = request(
        "scale-out",
        &[("d", "D:\\a"), ("e", "E:\\b")],
        2,
        Bytes::gib(1),
    );
    asked
        .files
        .insert(Role::Data, asked.files(Role::Temp).to_vec());
    asked.roles = [Role::Data, Role::Log].into();
    let nameless = refused(&sqlserver::layout::Layout, &asked, None);
    assert!(nameless.contains("Add --database NAME"), "{nameless}");
    asked.database = Some("sales".to_owned());
    let scripts = made(&sqlserver::layout::Layout, &asked, None);
    insta::assert_snapshot!(text(&scripts, "database-create.sql"), @r#"
    -- scale-out: makes the database. Folders first: database-0-folders.ps1. As: sqlcmd -S . -E -C -b -x -f 65001 -i database-create.sql
    USE [master];
    GO
    IF DB_ID(N'sales') IS NOT NULL
    BEGIN
        RAISERROR(N'There is a database of this name already.', 16, 1);
        SET NOEXEC ON;
    END;
    GO
    CREATE DATABASE [sales]
    ON PRIMARY
        (NAME = [data1], FILENAME = N'D:\a\sales_data1.mdf', SIZE = 1024MB, FILEGROWTH = 64MB),
        (NAME = [data2], FILENAME = N'E:\b\sales_data2.ndf', SIZE = 1024MB, FILEGROWTH = 64MB)
    LOG ON
        (NAME = [log1], FILENAME = N'D:\a\sales_log1.ldf', FILEGROWTH = 64MB);
    GO
    SET NOEXEC OFF;
    GO
    "#);
    let mut capture = server(3, "Windows", "C:\\MSSQL\\DATA\\", 1);
    database(&mut capture, 7, "Sales");
    let there = refused(&sqlserver::layout::Layout, &asked, Some(capture));
    assert!(there.contains("it is there already"), "{there}");
}

#[test]
fn a_database_on_a_disk_that_comes_back_empty_is_warned_of() {
    let mut asked = local(1);
    asked
        .files
        .insert(Role::Data, asked.files(Role::Temp).to_vec());
    asked.roles = [Role::Data].into();
    asked.database = Some("sales".to_owned());
    let scripts = made(&sqlserver::layout::Layout, &asked, None);
    assert!(text(&scripts, "database-create.sql").starts_with("-- WARNING: volume \"d\" is empty"));
}
