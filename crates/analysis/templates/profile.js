// Draws a profile over time, as it is: no figure is computed here.
(function () {
  "use strict";
  const { groups, start_ms, axis, unit_s, x, charts: all } = JSON.parse(document.getElementById("data").textContent);
  const place = document.querySelector(".charts");
  charts.group(groups, groups.map((_, at) => at), groups.length);
  if (groups.length > 1) charts.legend(place, "Lines shown");

  const clock = (at) => new Date(start_ms + at * unit_s * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  // Of many values, those alone that have no line on either side.
  const points = {
    show: x.length < 30, size: 5,
    filter: (u, line, show) => {
      const at = (place) => u.data[line][place] ?? null;
      return show ? null : x.flatMap((_, place) => (at(place) !== null && at(place - 1) === null && at(place + 1) === null ? [place] : []));
    },
  };

  for (const { title, unit, lines } of all) {
    charts.draw(place, title, {
      sync: "time", scales: { x: { time: false }, y: charts.fromZero },
      axes: [charts.axis(axis, { values: charts.values }), charts.axis(null, { values: charts.ticks, size: 62 })],
      series: [{ label: "\u00a0", value: (u, value) => (value == null ? "" : clock(value)) }].concat(charts.lines(lines, unit, points)),
    }, [x].concat(lines.map((line) => line.values)), lines.map((line) => line.group));
  }
  charts.ready();
})();
