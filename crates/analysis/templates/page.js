// Draws the curves of the page, as they are: no figure is computed here.
(function () {
  "use strict";
  const { arms, order, curves, agreement } = JSON.parse(document.getElementById("data").textContent);
  const ARMS_SHOWN = 8;
  const { COLOURS, shown, style, colour, digits, axis, values, ticks, fromZero, draw } = charts;
  charts.group(arms, order, ARMS_SHOWN);

  const bands = (lines) => lines.flatMap((line, at) => (line.ends_band ? [{ series: [at, at + 1], fill: colour(line.arm) + "33" }] : []));

  const lines = (chart) => charts.lines(
    chart.lines.map((line) => ({ group: line.arm, label: arms[line.arm] + (line.name ? ", " + line.name : "") })),
    chart.unit, { show: chart.x.length < 30, size: 5 });

  // Shades what was not measured of any arm shown.
  function shade(u) {
    const { ctx, bbox } = u;
    const until = u.valToPos(0, "x", true);
    if (until <= bbox.left) return;
    ctx.save();
    ctx.fillStyle = style("--line");
    ctx.globalAlpha = 0.45;
    ctx.fillRect(bbox.left, bbox.top, Math.min(until, bbox.left + bbox.width) - bbox.left, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillStyle = style("--soft");
    ctx.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
    ctx.textBaseline = "top";
    for (const span of curves.spans) {
      if (span.measured || span.from >= 0 || !shown[span.arm]) continue;
      const from = u.valToPos(span.from, "x", true);
      const wide = u.valToPos(span.until, "x", true) - from;
      if (wide > ctx.measureText(span.phase).width + 6) ctx.fillText(span.phase, Math.max(from, bbox.left) + 3, bbox.top + 3);
    }
    ctx.restore();
  }

  function overTime(place, chart) {
    draw(place, chart.title + ", " + chart.unit, {
      sync: "time", scales: { x: { time: false }, y: fromZero },
      axes: [axis("seconds since measuring began", { values }), axis(null, { values: ticks, size: 62 })],
      bands: bands(chart.lines),
      series: [{ label: "\u00a0", value: (u, value) => (value == null ? "" : "second " + digits(value)) }].concat(lines(chart)),
      hooks: { drawClear: [shade] },
    }, [chart.x].concat(chart.lines.map((line) => line.values)), chart.lines.map((line) => line.arm));
  }

  const NINES = [[1, "0"], [2, "50 %"], [10, "90 %"], [100, "99 %"], [1e3, "99.9 %"], [1e4, "99.99 %"], [1e5, "99.999 %"], [1e6, "99.9999 %"]];
  const percentile = (place) => +(100 * (1 - 1 / place)).toPrecision(6) + " %";

  function byPercentile(place, chart) {
    const last = chart.x[chart.x.length - 1];
    const marks = NINES.filter(([x]) => x <= last);
    draw(place, chart.title + ", " + chart.unit, {
      sync: "percentile", scales: { x: { time: false, distr: 3, log: 10 }, y: { distr: 3, log: 10 } },
      axes: [
        axis("of all, at most this long", { splits: () => marks.map(([x]) => x), values: () => marks.map(([, name]) => name), filter: (u, splits) => splits, space: 0 }),
        axis(null, { values, size: 62 }),
      ],
      series: [{ label: "\u00a0", value: (u, value) => (value == null ? "" : percentile(value)) }].concat(lines(chart)),
    }, [chart.x].concat(chart.lines.map((line) => line.values)), chart.lines.map((line) => line.arm));
  }

  // Dots beside each other in their order, the mean and its interval through them.
  function allTrials(place, dots) {
    const x = [];
    const points = dots.arms.map(() => []);
    dots.arms.forEach((arm, at) => arm.values.forEach((value, nth) => {
      x.push(at + (arm.values.length > 1 ? 0.5 * (nth / (arm.values.length - 1) - 0.5) : 0));
      points.forEach((values, other) => values.push(other === at ? value : null));
    }));
    if (!x.length) return;
    const all = dots.arms.flatMap((arm) => arm.values.concat(arm.interval ?? []));
    const low = Math.min(...all), high = Math.max(...all);
    const margin = (high - low || Math.abs(high) || 1) * 0.1;
    const interval = (u) => {
      const { ctx } = u;
      dots.arms.forEach((arm, at) => {
        if (!arm.interval || shown[at] === false) return;
        const [mean, from, until] = arm.interval.map((value) => u.valToPos(value, "y", true));
        const left = u.valToPos(at - 0.32, "x", true), right = u.valToPos(at + 0.32, "x", true);
        ctx.save();
        ctx.globalAlpha = 0.18;
        ctx.fillStyle = colour(at);
        ctx.fillRect(left, until, right - left, Math.max(1, from - until));
        ctx.globalAlpha = 1;
        ctx.fillRect(left, mean - devicePixelRatio, right - left, 2 * devicePixelRatio);
        ctx.restore();
      });
    };
    // Names that would lie over each other are left out.
    const each = Math.ceil(dots.arms.length / 16);
    const name = (at) => (Number.isInteger(at) && dots.arms[at] ? dots.arms[at].name : "");
    draw(place, dots.metric + (dots.unit ? ", " + dots.unit : "") + "; band: 95 % interval of the mean", {
      sync: "trials",
      scales: { x: { time: false, range: [-0.6, dots.arms.length - 0.4] }, y: { range: [low - margin, high + margin] } },
      axes: [
        axis(null, { splits: () => dots.arms.map((_, at) => at), values: (u, splits) => splits.map((at) => (at % each ? "" : name(at))), rotate: dots.arms.length > 5 ? -35 : 0, size: dots.arms.length > 5 ? 90 : 40, grid: { show: false }, space: 0, filter: (u, splits) => splits }),
        axis(null, { values: ticks, size: 62 }),
      ],
      series: [{ label: "\u00a0", value: (u, value) => (value == null ? "" : name(Math.round(value))) }].concat(
        dots.arms.map((arm, at) => ({
          label: arm.name, stroke: colour(at), paths: () => null, show: shown[at] !== false,
          points: { show: true, size: 8, fill: colour(at) }, value: (u, value) => (value == null ? "" : digits(value) + " " + dots.unit),
        }))),
      hooks: { drawAxes: [interval] },
    }, [x].concat(points), dots.arms.map((_, at) => at));
  }

  // A point for each arm; the line is where ours would be the published figure.
  function published(place, found) {
    const points = [...found.points].sort((one, other) => one.published - other.published);
    const x = points.map((point) => point.published);
    const ours = (fitted) => points.map((point) => (point.fitted === fitted ? point.ours : null));
    const dots = (label, at) => ({
      label, stroke: COLOURS[at], paths: () => null, points: { show: true, size: 8, fill: COLOURS[at] },
      value: (u, value, of, at) => (value == null || at == null ? "" : points[at].arm + ": " + digits(value)),
    });
    const own = [[ours(false), dots("not fitted", 0)], [ours(true), dots("fitted", 1)]];
    const there = own.filter(([values]) => values.some((value) => value !== null));
    draw(place, "Ours against published, " + found.metric.replaceAll("_", " "), {
      scales: { x: { time: false, distr: 3, log: 10 }, y: { distr: 3, log: 10 } },
      axes: [axis("published", { values }), axis("ours", { values, size: 62 })],
      series: [
        { label: "\u00a0", value: (u, value) => (value == null ? "" : "published " + digits(value)) },
        { label: "as published", stroke: () => style("--soft"), width: 1, dash: [4, 4], points: { show: false }, value: () => "" },
      ].concat(there.map(([, series]) => series)),
    }, [x, x].concat(there.map(([values]) => values)), [null, null, null]);
  }

  for (const place of document.querySelectorAll(".charts")) {
    const of = place.dataset.of;
    if (of !== "trials" && of !== "agreement" && arms.length > 1) charts.legend(place, "Placements shown");
    if (of === "agreement") published(place, agreement);
    if (of === "series") curves.series.forEach((chart) => overTime(place, chart));
    if (of === "distributions") curves.distributions.forEach((chart) => byPercentile(place, chart));
    if (of === "trials") allTrials(place, curves.trials);
  }
  charts.ready();
  if (arms.length > ARMS_SHOWN) {
    for (const list of document.querySelectorAll(".legend")) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = "Of " + arms.length + " placements the first " + ARMS_SHOWN + " are drawn; click on a name to draw it, or to leave it out.";
      list.before(note);
    }
  }
})();
