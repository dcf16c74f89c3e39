//! An external MySQL as a trial's engine, for real, on plain directories.

#![cfg(all(target_os = "linux", feature = "mariadb"))]

use engine::Engine;
use mariadb::{MariaDb, ServerUrl};
use testing::leaves::leaves_what_it_leaves_in_sqlite;
use testing::mysqld::{Mysqld, Product, taking_tables_in};
use testing::server::{Folders, experiment};
use workload::Workload;

#[test]
#[ignore = "long: runs every workload in MySQL; in MariaDB they run always"]
fn every_builtin_workload_leaves_in_mysql_what_it_leaves_in_sqlite() {
    let site = Folders::new(2);
    let places = taking_tables_in(site.parent());
    let Some(server) = Mysqld::start_of(Product::Mysql, &[&places]) else {
        return;
    };
    let url = ServerUrl::parse(&server.socket_url()).expect("a URL");
    for name in Workload::builtin_names() {
        let (settings, workload) = experiment(name, "mariadb", 2, 1);
        let engine = MariaDb::external(&url, &site, &settings, &workload);
        let mut engine = engine.unwrap_or_else(|error| panic!("{error}"));
        let query = |sql: &str| -> Vec<String> {
            let rows = server.sql(sql);
            rows.lines().map(str::to_owned).collect()
        };
        leaves_what_it_leaves_in_sqlite(name, &engine, &workload, &query);
        engine.stop().expect("nothing left");
        assert_eq!(site.content(), [""; 0], "{name}");
    }
}
