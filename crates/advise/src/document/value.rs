//! What a dollar brings: the best value among layouts.

use analysis::report::advice::document::Layout;

/// The layout with the least product of price and time, which is what an operation costs; the first of several.
pub(super) fn best<'a>(layouts: impl Iterator<Item = &'a Layout>) -> Option<&'a Layout> {
    let product = |layout: &Layout| Some(layout.usd_per_month? * layout.time);
    let priced = layouts.filter_map(|layout| Some((layout, product(layout)?)));
    let best = priced.min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map(|(layout, _)| layout)
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::layout;
    use super::*;

    #[test]
    fn the_best_value_has_the_least_product_of_price_and_time_of_all_that_are_named() {
        // 100 * 1 = 100, 120 * 0.7 = 84, 200 * 0.5 = 100.
        let named = [layout(100.0, 1.0), layout(120.0, 0.7), layout(200.0, 0.5)];
        assert_eq!(best(named.iter()), Some(&named[1]));

        // Without a price there is no product.
        let unpriced = Layout {
            usd_per_month: None,
            ..layout(0.0, 0.1)
        };
        assert_eq!(best([&unpriced, &named[0]].into_iter()), Some(&named[0]));
        assert_eq!(best([&unpriced].into_iter()), None);
    }
}
