//! What a dollar brings: the best value among layouts.

use analysis::report::advice::document::Layout;
use replay::OFF_MAX;

/// The layout with the least product of price and time, which is what an operation costs; the first of several.
pub(super) fn best<'a>(layouts: impl Iterator<Item = &'a Layout>) -> Option<&'a Layout> {
    let product = |layout: &Layout| Some(layout.usd_per_month? * layout.time);
    let priced = layouts.filter_map(|layout| Some((layout, product(layout)?)));
    let best = priced.min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map(|(layout, _)| layout)
}

/// Whether a layout that costs less than the one that is advised as the cheapest is not an answer: it was passed over as it is full, less
/// simple or slower. One that is faster by more than the model's error has room.
pub(super) fn is_passed_over(layout: &Layout, cheapest: Option<&Layout>) -> bool {
    cheapest.is_some_and(|cheapest| {
        let prices = layout.usd_per_month.zip(cheapest.usd_per_month);
        let costs_less = prices.is_some_and(|(own, least)| own < least);
        costs_less && layout.time > cheapest.time * (1.0 - OFF_MAX)
    })
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

    #[test]
    fn what_costs_less_than_the_cheapest_is_an_answer_only_where_it_is_much_faster() {
        let cheapest = layout(134.0, 0.8);
        let passed_over = |layout: Layout| is_passed_over(&layout, Some(&cheapest));
        assert!(passed_over(layout(130.0, 1.0)));
        // 0.8 * 0.8 = 0.64
        assert!(passed_over(layout(130.0, 0.65)));
        assert!(!passed_over(layout(130.0, 0.63)));
        assert!(!passed_over(layout(134.0, 1.0)));
        assert!(!is_passed_over(&layout(130.0, 1.0), None));
    }
}
