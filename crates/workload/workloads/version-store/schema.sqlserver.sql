CREATE TABLE customer (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    name varchar(30) NOT NULL,
    visits int NOT NULL DEFAULT 0,
    notes char(350) NOT NULL
);

CREATE TABLE account (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    balance int NOT NULL,
    details char(350) NOT NULL
);

CREATE TABLE item (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    price int NOT NULL,
    stock int NOT NULL,
    description char(350) NOT NULL
);

CREATE TABLE order_line (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    item_id int NOT NULL,
    quantity int NOT NULL,
    state varchar(10) NOT NULL,
    remarks char(350) NOT NULL
);
