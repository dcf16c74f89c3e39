// What the charts of all pages share: colours, axes, legends, and their size on a screen and on paper. Each page's own script
// draws its charts with it.
//
// Lines belong to groups, such as placements or roles. A click on a group's name hides its lines in every chart.
const charts = (function () {
  "use strict";
  // Told apart by most colour-blind readers, on white and on black; further groups repeat them with dashes.
  const COLOURS = ["#0a7bc4", "#d55e00", "#0d9268", "#b0509a", "#8c7000", "#d6455f", "#3d8ea8", "#7a6ad0"];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 4]];
  const PRINT_WIDTH = 660;
  const HEIGHT = 250;
  const drawn = [];
  let names = [];
  let order = [];
  // Places of the groups on the page.
  const slots = [];
  const shown = [];

  // The groups by name, their order on the page, and how many of them are drawn at first.
  function group(all, inOrder, drawnFirst) {
    names = all;
    order = inOrder;
    order.forEach((at, slot) => { slots[at] = slot; });
    names.forEach((_, at) => { shown[at] = slot(at) < drawnFirst; });
  }

  const slot = (group) => slots[group] ?? group;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (group) => COLOURS[slot(group) % COLOURS.length];
  const dash = (group, line) => DASHES[(Math.floor(slot(group) / COLOURS.length) + line) % DASHES.length];
  const digits = (value) => {
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString("en-US");
    return String(+value.toPrecision(3));
  };

  function axis(label, more) {
    return Object.assign({
      label, labelSize: 20, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: () => style("--text"), grid: { stroke: () => style("--line"), width: 1 },
      ticks: { stroke: () => style("--line"), width: 1 },
    }, more);
  }
  const values = (u, splits) => splits.map((value) => (value == null ? "" : digits(value)));
  // Of evenly spaced ticks: as many decimals as their distance has, so that they can be told apart.
  const ticks = (u, splits, axis, space, step) => {
    let decimals = 0;
    while (decimals < 9 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
    const form = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return splits.map((value) => (value == null ? "" : value.toLocaleString("en-US", form)));
  };
  // From 0, with room above the highest value.
  const fromZero = { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] };
  // As lines are drawn, so are the signs beside their names.
  const sign = (u, line) => {
    const [length] = u.series[line].dash ?? [];
    return length === undefined ? "solid" : length < 4 ? "dotted" : "dashed";
  };

  // Lines of a chart, each of them `{ group, label }`. Those of one group are told apart by dashes.
  function lines(all, unit, points) {
    const seen = {};
    return all.map(({ group, label }) => {
      const nth = seen[group] = (seen[group] ?? -1) + 1;
      return {
        label, stroke: colour(group), width: 1.75, dash: dash(group, nth), show: shown[group], points,
        value: (u, value) => (value == null ? "" : digits(value) + " " + unit),
      };
    });
  }

  // Draws a chart; `lineGroups` are the groups of its lines.
  function draw(place, title, options, data, lineGroups) {
    const frame = document.createElement("div");
    frame.className = "chart";
    place.append(frame);
    const chart = new uPlot(Object.assign({
      title, width: Math.max(280, frame.clientWidth || PRINT_WIDTH), height: HEIGHT,
      cursor: { drag: { x: true, y: false }, sync: { key: options.sync } }, legend: { markers: { dash: sign } },
    }, options), data, frame);
    // In its legend a name is no header of other cells, and may be blank.
    for (const name of frame.querySelectorAll(".u-legend th")) name.setAttribute("role", "cell");
    // Its legend is text; what is drawn is not.
    const drawing = frame.querySelector(".u-wrap");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", title + "; the tables have its figures");
    drawn.push({ chart, frame, lineGroups });
  }

  // One legend for all charts of a section: a click hides a group everywhere.
  function legend(place, label) {
    const list = document.createElement("div");
    list.className = "legend";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", label);
    order.forEach((at) => {
      const button = document.createElement("button");
      const sign = document.createElement("i");
      button.type = "button";
      button.dataset.group = at;
      const [drawn, gap] = dash(at, 0);
      sign.style.background = drawn === undefined ? colour(at)
        : `repeating-linear-gradient(90deg, ${colour(at)} 0 ${drawn}px, transparent 0 ${drawn + gap}px)`;
      button.append(sign, names[at]);
      button.addEventListener("click", () => show(at, !shown[at]));
      list.append(button);
    });
    place.before(list);
  }

  function show(group, visible) {
    shown[group] = visible;
    for (const { chart, lineGroups } of drawn) {
      lineGroups.forEach((of, line) => { if (of === group && chart.series[line + 1].show !== visible) chart.setSeries(line + 1, { show: visible }); });
      chart.redraw();
    }
    pressed();
  }
  function pressed() {
    for (const button of document.querySelectorAll(".legend button")) button.setAttribute("aria-pressed", String(shown[button.dataset.group]));
  }

  function resize(width) {
    for (const { chart, frame } of drawn) chart.setSize({ width: width ?? Math.max(280, frame.clientWidth), height: HEIGHT });
  }

  // To be called when all charts are drawn: only now it is known how many stand side by side.
  function ready() {
    resize();
    pressed();
    let waiting;
    addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => resize(), 100); });
    // Paper is light, has one width, and nothing to click on.
    const closed = [...document.querySelectorAll("#answer details, #tables details, details.fold")].filter((part) => !part.open);
    addEventListener("beforeprint", () => {
      document.documentElement.dataset.print = "";
      closed.forEach((part) => { part.open = true; });
      resize(PRINT_WIDTH);
    });
    addEventListener("afterprint", () => {
      delete document.documentElement.dataset.print;
      closed.forEach((part) => { part.open = false; });
      resize();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(({ chart }) => chart.redraw()));
    document.documentElement.dataset.charts = drawn.length;
  }

  return { COLOURS, shown, group, style, colour, digits, axis, values, ticks, fromZero, lines, draw, legend, ready };
})();
