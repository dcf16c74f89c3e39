CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    visits INTEGER NOT NULL DEFAULT 0,
    notes TEXT NOT NULL
);

CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    balance INTEGER NOT NULL,
    details TEXT NOT NULL
);

CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    price INTEGER NOT NULL,
    stock INTEGER NOT NULL,
    description TEXT NOT NULL
);

CREATE TABLE order_line (
    id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    state TEXT NOT NULL,
    remarks TEXT NOT NULL
);
