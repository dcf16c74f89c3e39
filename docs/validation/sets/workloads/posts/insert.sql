\set id random(1, :rows * 1000000)
INSERT OR IGNORE INTO posts VALUES (:id, printf('%-1000s', ''));
