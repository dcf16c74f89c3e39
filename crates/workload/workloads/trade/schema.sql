CREATE TABLE broker (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    trades INTEGER NOT NULL DEFAULT 0,
    commission INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    tax_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    tier INTEGER NOT NULL,
    address TEXT NOT NULL
);

CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    broker_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    balance INTEGER NOT NULL
);
CREATE INDEX account_customer ON account (customer_id);

CREATE TABLE company (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    industry INTEGER NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX company_industry ON company (industry);

CREATE TABLE security (
    id INTEGER PRIMARY KEY,
    symbol TEXT NOT NULL UNIQUE,
    company_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    issued INTEGER NOT NULL
);
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
) WITHOUT ROWID;

CREATE TABLE news (
    id INTEGER PRIMARY KEY,
    company_id INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX news_company ON news (company_id);

CREATE TABLE watch (
    customer_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    PRIMARY KEY (customer_id, security_id)
) WITHOUT ROWID;

CREATE TABLE holding (
    account_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    PRIMARY KEY (account_id, security_id)
) WITHOUT ROWID;

CREATE TABLE trade (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL,
    security_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    is_sale INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    bid_price INTEGER NOT NULL,
    price INTEGER,
    fee INTEGER NOT NULL DEFAULT 0,
    executor TEXT NOT NULL,
    desk INTEGER NOT NULL
);
CREATE INDEX trade_account ON trade (account_id, id);
CREATE INDEX trade_security ON trade (security_id, id);
CREATE INDEX trade_submitted ON trade (desk, id) WHERE state = 'submitted';

CREATE TABLE trade_history (
    trade_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (trade_id, state)
) WITHOUT ROWID;

CREATE TABLE settlement (
    trade_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL
);

CREATE TABLE cash_transaction (
    trade_id INTEGER PRIMARY KEY,
    amount INTEGER NOT NULL,
    name TEXT NOT NULL
);
