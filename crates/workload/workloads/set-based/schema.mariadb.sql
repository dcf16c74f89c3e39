-- Of the session, which therefore loads and runs on one connection: it lives in InnoDB's temporary tablespace
-- (innodb_temp_data_file_path). A character is a byte, whatever the server's default.
CREATE TEMPORARY TABLE test_rows (
    id INTEGER AUTO_INCREMENT PRIMARY KEY,
    body VARCHAR(2000) NOT NULL
) ENGINE = InnoDB CHARACTER SET latin1;
