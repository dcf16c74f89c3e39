//! Negotiates the text format with a client.

use crate::metrics::TextFormat;

/// The format for a client by its header `Accept`: OpenMetrics for those that name it, as Prometheus does from 2.5 on; the older
/// one for browsers, curl and all others.
pub(super) fn negotiated(accept: &str) -> TextFormat {
    let weight = |name: &str, version: &str| {
        let ranges = accept
            .split(',')
            .map(|range| weight_of(range, name, version));
        ranges.flatten().fold(0.0, f64::max)
    };
    let openmetrics = weight("application/openmetrics-text", "1.0.0");
    match openmetrics > 0.0 && openmetrics >= weight("text/plain", "0.0.4") {
        true => TextFormat::OpenMetrics,
        false => TextFormat::Prometheus,
    }
}

/// The media type of a format.
pub(super) fn media_type(format: TextFormat) -> &'static str {
    match format {
        TextFormat::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        TextFormat::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
    }
}

/// The quality that a media range gives the type `name`, from 0 to 1; `None` where it is another type or version.
fn weight_of(range: &str, name: &str, version: &str) -> Option<f64> {
    let mut parts = range.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(name) {
        return None;
    }
    let mut weight = 1.0;
    for parameter in parts {
        match parameter.split_once('=') {
            Some(("version", named)) if named != version => return None,
            Some(("q", text)) => weight = text.parse::<f64>().ok()?.clamp(0.0, 1.0),
            Some(_) | None => {}
        }
    }
    Some(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmetrics_is_for_clients_that_name_it() {
        let prometheus_2_42 = "application/openmetrics-text;version=1.0.0,\
            application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let prometheus_3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
            application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        for (accept, format) in [
            (prometheus_2_42, TextFormat::OpenMetrics),
            (prometheus_3, TextFormat::OpenMetrics),
            ("application/openmetrics-text", TextFormat::OpenMetrics),
            (
                "application/openmetrics-text;version=2.0.0",
                TextFormat::Prometheus,
            ),
            ("application/openmetrics-text;q=0", TextFormat::Prometheus),
            (
                "application/openmetrics-text;q=0.1, text/plain",
                TextFormat::Prometheus,
            ),
            ("*/*", TextFormat::Prometheus),
            ("", TextFormat::Prometheus),
        ] {
            assert_eq!(negotiated(accept), format, "{accept}");
        }
    }
}
