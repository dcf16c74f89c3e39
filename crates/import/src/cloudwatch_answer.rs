//! What `aws cloudwatch get-metric-statistics` prints of a metric.
//!
//! Form: `get-metric-statistics.rst` of <https://github.com/aws/aws-cli>.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Answer {
    pub(super) label: String,
    pub(super) datapoints: Vec<Point>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Point {
    pub(super) timestamp: String,
    pub(super) sum: Option<f64>,
    pub(super) average: Option<f64>,
    pub(super) unit: Option<String>,
}
