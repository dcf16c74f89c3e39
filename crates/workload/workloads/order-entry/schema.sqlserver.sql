CREATE TABLE warehouse (id int NOT NULL PRIMARY KEY, name varchar(10) NOT NULL, year_to_date bigint NOT NULL);

CREATE TABLE district (
    id int NOT NULL PRIMARY KEY,
    name varchar(10) NOT NULL,
    year_to_date bigint NOT NULL,
    next_order int NOT NULL
);

-- Its id is district * 1,000,000 + number, and its last name district * 10,000 + number.
CREATE TABLE customer (
    id int NOT NULL PRIMARY KEY,
    last_name int NOT NULL,
    first_name char(16) NOT NULL,
    balance bigint NOT NULL,
    payments int NOT NULL,
    data char(536) NOT NULL
);

CREATE TABLE history (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    customer_id int NOT NULL,
    warehouse char(10) NOT NULL,
    amount int NOT NULL,
    data char(40) NOT NULL
);

-- Its id is district * 10,000,000 + number.
CREATE TABLE orders (
    id int NOT NULL PRIMARY KEY,
    customer_id int NOT NULL,
    carrier int NULL,
    lines int NOT NULL,
    entered char(15) NOT NULL
);

CREATE TABLE new_orders (id int NOT NULL PRIMARY KEY);

CREATE TABLE order_line (
    order_id int NOT NULL,
    line int NOT NULL,
    item_id int NOT NULL,
    supplier char(11) NOT NULL,
    amount int NOT NULL,
    delivered int NULL,
    data char(38) NOT NULL,
    PRIMARY KEY (order_id, line)
);

CREATE TABLE stock (id int NOT NULL PRIMARY KEY, quantity int NOT NULL, sold int NOT NULL, data char(316) NOT NULL);

-- One for 100 warehouses in sysbench-tpcc: a hundredth of its rows here.
CREATE TABLE item (id int NOT NULL PRIMARY KEY, price int NOT NULL, data char(88) NOT NULL);
