CREATE TABLE broker (
    id INTEGER PRIMARY KEY,
    name VARCHAR(30) NOT NULL,
    trades INTEGER NOT NULL DEFAULT 0,
    commission INTEGER NOT NULL DEFAULT 0
) CHARACTER SET latin1;

CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    tax_id VARCHAR(12) NOT NULL UNIQUE,
    name VARCHAR(30) NOT NULL,
    tier INTEGER NOT NULL,
    address VARCHAR(150) NOT NULL
) CHARACTER SET latin1;

CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    broker_id INTEGER NOT NULL,
    name VARCHAR(50) NOT NULL,
    balance INTEGER NOT NULL
) CHARACTER SET latin1;
CREATE INDEX account_customer ON account (customer_id);

CREATE TABLE company (
    id INTEGER PRIMARY KEY,
    name VARCHAR(30) NOT NULL,
    industry INTEGER NOT NULL,
    description VARCHAR(300) NOT NULL
) CHARACTER SET latin1;
CREATE INDEX company_industry ON company (industry);

CREATE TABLE security (
    id INTEGER PRIMARY KEY,
    symbol VARCHAR(8) NOT NULL UNIQUE,
    company_id INTEGER NOT NULL,
    name VARCHAR(70) NOT NULL,
    issued INTEGER NOT NULL
) CHARACTER SET latin1;
CREATE INDEX security_company ON security (company_id);

CREATE TABLE last_trade (
    security_id INTEGER PRIMARY KEY,
    price INTEGER NOT NULL,
    open_price INTEGER NOT NULL,
    volume INTEGER NOT NULL
);

CREATE TABLE daily_market (
    security_id INTEGER NOT NULL,
    day INTEGER NOT NULL,
    close INTEGER NOT NULL,
    volume INTEGER NOT NULL,
    PRIMARY KEY (security_id, day)
);

CREATE TABLE news (
    id INTEGER PRIMARY KEY,
    company_id INTEGER NOT NULL,
    body VARCHAR(1000) NOT NULL
) CHARACTER SET latin1;
CREATE INDEX news_company ON news (company_id);

CREATE TABLE watch (
    customer_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    PRIMARY KEY (customer_id, security_id)
);

CREATE TABLE holding (
    account_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    PRIMARY KEY (account_id, security_id)
);

CREATE TABLE trade (
    id INTEGER AUTO_INCREMENT PRIMARY KEY,
    account_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    state VARCHAR(10) NOT NULL,
    is_sale INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    bid_price INTEGER NOT NULL,
    price INTEGER,
    fee INTEGER NOT NULL DEFAULT 0,
    executor VARCHAR(40) NOT NULL,
    desk INTEGER NOT NULL
) CHARACTER SET latin1;
CREATE INDEX trade_account ON trade (account_id, id);
CREATE INDEX trade_security ON trade (security_id, id);
-- MariaDB has no index of some rows only: this one has all trades, those that wait side by side.
CREATE INDEX trade_submitted ON trade (state, desk, id);

CREATE TABLE trade_history (
    trade_id INTEGER NOT NULL,
    state VARCHAR(10) NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (trade_id, state)
) CHARACTER SET latin1;

CREATE TABLE settlement (
    trade_id INTEGER PRIMARY KEY,
    kind VARCHAR(10) NOT NULL,
    amount INTEGER NOT NULL
) CHARACTER SET latin1;

CREATE TABLE cash_transaction (
    trade_id INTEGER PRIMARY KEY,
    amount INTEGER NOT NULL,
    name VARCHAR(60) NOT NULL
) CHARACTER SET latin1;
