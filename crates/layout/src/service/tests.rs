//! All services of the catalogue: their commands have no word in braces that stands for nothing.

use std::collections::BTreeSet;

use catalogue::{Catalogue, Service, ServiceStorage};
use experiment::spec::Role;
use model::{Bytes, Iops, Throughput};

use super::{Held, Names, Server, ServiceRequest, Today, scripts};

/// A server of a class with these storage types, each with its roles.
fn server<'a>(service: &'a Service, class: &str, storage: &[&'a ServiceStorage]) -> Server<'a> {
    let held = |(number, rule): (usize, &&'a ServiceStorage)| Held {
        name: format!("v{number}"),
        rule,
        size: (!rule.is_local()).then(|| Bytes::gib(500)),
        iops: Some(Iops(5_000)),
        throughput: Some(Throughput(200 << 20)),
        roles: Role::COMMON
            .into_iter()
            .filter(|role| rule.holds(role.name()))
            .collect::<BTreeSet<Role>>(),
    };
    Server {
        service,
        class: &service.classes[class],
        volumes: storage.iter().enumerate().map(held).collect(),
    }
}

#[test]
fn every_service_has_commands_for_every_class_and_storage() {
    let catalogue = Catalogue::builtin();
    let names = Names {
        server: Some("shop".to_owned()),
        group: Some("sales".to_owned()),
        database: Some("orders".to_owned()),
        parameters: Some("mine".to_owned()),
    };
    let mut with_commands = 0;
    for service in catalogue
        .services()
        .filter(|service| service.change.is_some())
    {
        let (Some(first), Some(last)) =
            (service.classes.keys().next(), service.classes.keys().last())
        else {
            panic!("{} has no classes", service.name)
        };
        let main: Vec<&ServiceStorage> = service
            .storage
            .iter()
            .filter(|storage| storage.holds("data"))
            .collect();
        for then in &main {
            let beside = service
                .storage
                .iter()
                .filter(|storage| !storage.holds("data"));
            let mut all = vec![*then];
            all.extend(beside);
            let request = ServiceRequest {
                title: "a, arm b".to_owned(),
                today: Today::Server(server(service, first, &main[..1])),
                then: server(service, last, &all),
                names: names.clone(),
            };
            let made =
                scripts(&request).unwrap_or_else(|error| panic!("{}: {error}", service.name));
            with_commands += 1;
            for script in made {
                let left = script.text.contains('{') && !script.text.contains("VolumeName");
                assert!(!left, "{}: {}", service.name, script.text);
            }
        }
        assert!(!service.includes_sources.is_empty(), "{}", service.name);
    }
    assert!(with_commands > 15, "{with_commands}");
}
