//! Prices in the currency that was asked for.

use serde::{Deserialize, Serialize};
use table::quantity;

/// A currency, at a rate that the user gives. The prices of a document stay in US dollars; what is shown is converted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Currency {
    /// Its code, such as `EUR`.
    pub code: String,
    /// What one US dollar is in it.
    pub per_usd: f64,
}

/// US dollars.
impl Default for Currency {
    fn default() -> Currency {
        Currency {
            code: "USD".to_owned(),
            per_usd: 1.0,
        }
    }
}

/// Rates that could be of a currency: a dollar is 0.3 Kuwaiti dinars, and 100,000 Lebanese pounds.
const RATES: std::ops::RangeInclusive<f64> = 1e-3..=1e6;

impl Currency {
    /// Reads `EUR=0.92`: three letters, and what one US dollar is in this currency.
    ///
    /// # Errors
    /// When it has another form, with an example.
    pub fn parse(text: &str) -> Result<Currency, String> {
        let refused = || {
            "give a currency of three letters and what one US dollar is in it, such as EUR=0.92"
                .to_owned()
        };
        let (code, rate) = text.split_once('=').ok_or_else(refused)?;
        let code = code.trim().to_ascii_uppercase();
        let per_usd: f64 = rate.trim().parse().map_err(|_| refused())?;
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        match is_code && RATES.contains(&per_usd) {
            true => Ok(Currency { code, per_usd }),
            false => Err(refused()),
        }
    }

    /// A price: `$88.91`, `EUR 81.80`.
    pub fn shown(&self, usd: f64) -> String {
        match self.is_usd() {
            true => format!("${}", self.bare(usd)),
            false => format!("{} {}", self.code, self.bare(usd)),
        }
    }

    /// A price in a column of them.
    pub fn bare(&self, usd: f64) -> String {
        quantity::usd(usd * self.per_usd)
    }

    /// The unit of a column of monthly prices.
    pub fn per_month(&self) -> String {
        match self.is_usd() {
            true => "$/month".to_owned(),
            false => format!("{}/month", self.code),
        }
    }

    /// The rate, where prices are converted.
    pub fn rate(&self) -> Option<String> {
        let text = || format!("1 USD = {} {}, as given", self.per_usd, self.code);
        (!self.is_usd()).then(text)
    }

    fn is_usd(&self) -> bool {
        self.code == "USD" && self.per_usd == 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_shown_in_the_currency_by_its_rate() {
        let euro = Currency::parse("eur=0.92").expect("it is a rate");

        // 88.91 * 0.92 = 81.80
        assert_eq!(euro.shown(88.91), "EUR 81.80");
        assert_eq!(euro.per_month(), "EUR/month");
        assert_eq!(euro.rate().as_deref(), Some("1 USD = 0.92 EUR, as given"));
        assert_eq!(Currency::default().shown(88.91), "$88.91");
        assert_eq!(Currency::default().rate(), None);
    }

    #[test]
    fn what_is_no_rate_is_refused_with_an_example() {
        for text in [
            "EUR",
            "EUR=",
            "EUR=0",
            "EUR=-1",
            "EUR=nan",
            "euros=0.9",
            "E1R=2",
            "=1",
        ] {
            let error = Currency::parse(text).expect_err(text);
            assert!(error.contains("EUR=0.92"), "{error}");
        }
    }
}
