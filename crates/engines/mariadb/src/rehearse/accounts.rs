//! Accounts of a copy: sessions of the log log in as their users, whose passwords are not known, from a host that is not theirs.
//!
//! Each account is there for host `localhost` too, with the rights it had, and with a password that is made for this rehearsal.
//! The server checks rights as before, so that what was denied is denied again.

use std::fs::File;
use std::io::{self, Read};

use engine::server_url::Password;

/// The user of dbstow's own questions.
pub(crate) const OWN: &str = "dbstow";

/// Tables with rights of users, by host.
const OF_RIGHTS: [&str; 5] = [
    "db",
    "tables_priv",
    "columns_priv",
    "procs_priv",
    "roles_mapping",
];

/// A new password.
///
/// # Errors
/// When the system gives no random numbers.
pub(crate) fn password() -> io::Result<Password> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digits = bytes.map(|byte| format!("{byte:02x}"));
    Ok(Password::new(digits.concat()))
}

/// Statements, one a line, that let all users in with `password`, and load no libraries from now on.
pub(crate) fn statements(password: &Password) -> String {
    let is_user = "JSON_VALUE(Priv, '$.is_role') IS NULL";
    let hash = format!(
        "CONCAT('*', UPPER(SHA1(UNHEX(SHA1('{}')))))",
        password.secret()
    );
    let login = format!("'$.plugin', 'mysql_native_password', '$.authentication_string', {hash}");
    let mut all = vec![
        "USE mysql".to_owned(),
        "DELETE FROM plugin".to_owned(),
        "DELETE FROM func".to_owned(),
        // What a user has at localhost counts first, and what it has from anywhere last.
        format!("CREATE TEMPORARY TABLE dbstow_users AS SELECT * FROM global_priv WHERE {is_user} ORDER BY Host = 'localhost' DESC, Host = '%'"),
        "UPDATE dbstow_users SET Priv = JSON_REMOVE(Priv, '$.auth_or', '$.account_locked', '$.ssl_type', '$.ssl_cipher', '$.x509_issuer', \
         '$.x509_subject')"
            .to_owned(),
        format!("UPDATE dbstow_users SET Host = 'localhost', Priv = JSON_SET(Priv, {login}, '$.password_lifetime', 0)"),
        format!("DELETE FROM global_priv WHERE Host = 'localhost' AND {is_user}"),
        "INSERT IGNORE INTO global_priv SELECT * FROM dbstow_users".to_owned(),
        format!("REPLACE INTO global_priv VALUES ('localhost', '{OWN}', JSON_SET('{{}}', '$.access', 18446744073709551615, {login}))"),
    ];
    for table in OF_RIGHTS {
        all.extend([
            format!("CREATE TEMPORARY TABLE dbstow_{table} AS SELECT * FROM {table} WHERE Host <> 'localhost' AND Host <> '' ORDER BY Host = '%'"),
            format!("UPDATE dbstow_{table} SET Host = 'localhost'"),
            format!("INSERT IGNORE INTO {table} SELECT * FROM dbstow_{table}"),
        ]);
    }
    all.into_iter().map(|statement| statement + ";\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_statements_are_one_a_line() {
        let (one, other) = (password().unwrap(), password().unwrap());
        assert_ne!(one.secret(), other.secret());
        assert_eq!(one.secret().len(), 32);
        let all = statements(&one);
        assert!(
            all.lines()
                .all(|line| line.ends_with(';') && line.matches(';').count() == 1),
            "{all}"
        );
    }
}
