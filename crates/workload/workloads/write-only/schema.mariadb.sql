-- Not TEMPORARY: the sessions that load are not those of the run. The parts lie in the directories of temp space.
-- A character is a byte, whatever the server's default.
CREATE TABLE test_rows (
    id INTEGER AUTO_INCREMENT PRIMARY KEY,
    body VARCHAR(2000) NOT NULL
) CHARACTER SET latin1 PARTITION BY HASH (id);
