CREATE TABLE warehouse (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL, year_to_date BIGINT NOT NULL)
CHARACTER SET latin1;

CREATE TABLE district (
    id INTEGER PRIMARY KEY,
    name VARCHAR(10) NOT NULL,
    year_to_date BIGINT NOT NULL,
    next_order INTEGER NOT NULL
) CHARACTER SET latin1;

-- Its id is district * 1,000,000 + number, and its last name district * 10,000 + number.
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    last_name INTEGER NOT NULL,
    first_name VARCHAR(16) NOT NULL,
    balance BIGINT NOT NULL,
    payments INTEGER NOT NULL,
    data VARCHAR(536) NOT NULL
) CHARACTER SET latin1;

CREATE TABLE history (
    id INTEGER AUTO_INCREMENT PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    warehouse VARCHAR(10) NOT NULL,
    amount INTEGER NOT NULL,
    data VARCHAR(40) NOT NULL
) CHARACTER SET latin1;

-- Its id is district * 10,000,000 + number.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    carrier INTEGER,
    `lines` INTEGER NOT NULL,
    entered VARCHAR(15) NOT NULL
) CHARACTER SET latin1;

CREATE TABLE new_orders (id INTEGER PRIMARY KEY);

CREATE TABLE order_line (
    order_id INTEGER NOT NULL,
    line INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    supplier VARCHAR(11) NOT NULL,
    amount INTEGER NOT NULL,
    delivered INTEGER,
    data VARCHAR(38) NOT NULL,
    PRIMARY KEY (order_id, line)
) CHARACTER SET latin1;

CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity INTEGER NOT NULL, sold INTEGER NOT NULL, data VARCHAR(316) NOT NULL)
CHARACTER SET latin1;

-- One for 100 warehouses in sysbench-tpcc: a hundredth of its rows here.
CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER NOT NULL, data VARCHAR(88) NOT NULL) CHARACTER SET latin1;
