CREATE TABLE warehouse (id INTEGER PRIMARY KEY, name TEXT NOT NULL, year_to_date BIGINT NOT NULL);

CREATE TABLE district (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    year_to_date BIGINT NOT NULL,
    next_order INTEGER NOT NULL
);

-- Its id is district * 1,000,000 + number, and its last name district * 10,000 + number.
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    last_name INTEGER NOT NULL,
    first_name TEXT NOT NULL,
    balance BIGINT NOT NULL,
    payments INTEGER NOT NULL,
    data TEXT NOT NULL
);

CREATE TABLE history (
    id SERIAL PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    warehouse TEXT NOT NULL,
    amount INTEGER NOT NULL,
    data TEXT NOT NULL
);

-- Its id is district * 10,000,000 + number.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    carrier INTEGER,
    lines INTEGER NOT NULL,
    entered TEXT NOT NULL
);

CREATE TABLE new_orders (id INTEGER PRIMARY KEY);

CREATE TABLE order_line (
    order_id INTEGER NOT NULL,
    line INTEGER NOT NULL,
    item_id INTEGER NOT NULL,
    supplier TEXT NOT NULL,
    amount INTEGER NOT NULL,
    delivered INTEGER,
    data TEXT NOT NULL,
    PRIMARY KEY (order_id, line)
);

CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity INTEGER NOT NULL, sold INTEGER NOT NULL, data TEXT NOT NULL);

-- One for 100 warehouses in sysbench-tpcc: a hundredth of its rows here.
CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER NOT NULL, data TEXT NOT NULL);
