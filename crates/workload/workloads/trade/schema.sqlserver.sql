CREATE TABLE broker (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    name varchar(30) NOT NULL,
    trades int NOT NULL DEFAULT 0,
    commission int NOT NULL DEFAULT 0
);

CREATE TABLE customer (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    tax_id char(12) NOT NULL UNIQUE,
    name varchar(30) NOT NULL,
    tier int NOT NULL,
    address char(150) NOT NULL
);

CREATE TABLE account (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    customer_id int NOT NULL,
    broker_id int NOT NULL,
    name char(50) NOT NULL,
    balance int NOT NULL
);
CREATE INDEX account_customer ON account (customer_id);

CREATE TABLE company (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    name varchar(30) NOT NULL,
    industry int NOT NULL,
    description char(300) NOT NULL
);
CREATE INDEX company_industry ON company (industry);

CREATE TABLE security (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    symbol char(8) NOT NULL UNIQUE,
    company_id int NOT NULL,
    name char(70) NOT NULL,
    issued int NOT NULL
);
CREATE INDEX security_company ON security (company_id);

CREATE TABLE last_trade (
    security_id int NOT NULL PRIMARY KEY,
    price int NOT NULL,
    open_price int NOT NULL,
    volume int NOT NULL
);

CREATE TABLE daily_market (
    security_id int NOT NULL,
    day int NOT NULL,
    [close] int NOT NULL,
    volume int NOT NULL,
    PRIMARY KEY (security_id, day)
);

CREATE TABLE news (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    company_id int NOT NULL,
    body char(1000) NOT NULL
);
CREATE INDEX news_company ON news (company_id);

CREATE TABLE watch (
    customer_id int NOT NULL,
    security_id int NOT NULL,
    PRIMARY KEY (customer_id, security_id)
);

CREATE TABLE holding (
    account_id int NOT NULL,
    security_id int NOT NULL,
    quantity int NOT NULL,
    PRIMARY KEY (account_id, security_id)
);

CREATE TABLE trade (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    account_id int NOT NULL,
    security_id int NOT NULL,
    state varchar(10) NOT NULL,
    is_sale int NOT NULL,
    quantity int NOT NULL,
    bid_price int NOT NULL,
    price int NULL,
    fee int NOT NULL DEFAULT 0,
    executor char(40) NOT NULL,
    desk int NOT NULL
);
CREATE INDEX trade_account ON trade (account_id, id);
CREATE INDEX trade_security ON trade (security_id, id);
CREATE INDEX trade_submitted ON trade (desk, id) WHERE state = 'submitted';

CREATE TABLE trade_history (
    trade_id int NOT NULL,
    state varchar(10) NOT NULL,
    at int NOT NULL,
    PRIMARY KEY (trade_id, state)
);

CREATE TABLE settlement (
    trade_id int NOT NULL PRIMARY KEY,
    kind varchar(10) NOT NULL,
    amount int NOT NULL
);

CREATE TABLE cash_transaction (
    trade_id int NOT NULL PRIMARY KEY,
    amount int NOT NULL,
    name char(60) NOT NULL
);
