// Draws layouts by price and time, as they are, and sorts their table: no figure is computed here.
(function () {
  "use strict";
  const { chart: { unit, groups, x, lines }, keys } = JSON.parse(document.getElementById("data").textContent);
  const { colour, digits } = charts;
  // Values that differ by more than this factor are drawn on a logarithmic axis.
  const LINEAR_MAX = 20;
  charts.group(groups, groups.map((_, at) => at), groups.length);

  // On a logarithmic axis, of each power of ten as many ticks as there is room for.
  function splits(u, axis, low, high) {
    const room = axis ? u.height / 40 : u.width / 70;
    let found = [];
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        found.push(...steps.map((step) => step * 10 ** power).filter((value) => value >= low && value <= high));
      }
      if (found.length <= room) break;
    }
    return found;
  }
  function form(values) {
    const low = Math.min(...values);
    if (low > 0 && Math.max(...values) > LINEAR_MAX * low) {
      const range = (u, low, high) => (low > 0 ? [low / 1.2, high * 1.2] : [1, 10]);
      return { scale: { distr: 3, log: 10, range }, axis: { splits, filter: (u, splits) => splits, values: charts.values, space: 0 } };
    }
    // From the lowest to the highest, with a margin: what differs is what is asked about, and it may differ by little.
    const range = (u, low, high) => {
      const margin = (high - low || high || 1) * 0.08;
      return [Math.max(0, low - margin), high + margin];
    };
    return { scale: { range }, axis: { values: charts.ticks } };
  }

  function series() {
    const plain = charts.lines(groups.map((label, group) => ({ group, label })), "%", { show: true });
    return plain.map((line, at) => Object.assign(line, {
      value: (u, value, of, place) => (value == null || place == null ? "" : digits(value) + " %, " + (lines[at].machines[place] ?? "machine not known")),
    }, groups[at] === "frontier"
      ? { paths: uPlot.paths.stepped({ align: 1 }), spanGaps: true, points: { show: true, size: 7, fill: colour(at) } }
      // Rings of different size: one layout may be several answers.
      : { paths: () => null, points: { show: true, size: 10 + 4 * at, width: 2, stroke: colour(at), fill: "transparent" } }));
  }

  function draw(place) {
    const price = form(x);
    const time = form(lines.flatMap((line) => line.values.filter((value) => value !== null)));
    // What is zoomed to is shown as it is.
    const range = (u, low, high) => (low === x[0] && high === x[x.length - 1] ? price.scale.range(u, low, high) : [low, high]);
    if (groups.length > 1) charts.legend(place, "Layouts shown");
    charts.draw(place, "Time of an operation by price", {
      scales: { x: Object.assign({ time: false }, price.scale, { range }), y: time.scale },
      axes: [charts.axis(unit, price.axis), charts.axis("% of today's time", Object.assign({ size: 62 }, time.axis))],
      series: [{ label: "\u00a0", value: (u, value) => (value == null ? "" : digits(value) + " " + unit) }].concat(series()),
    }, [x].concat(lines.map((line) => line.values)), groups.map((_, at) => at));
  }

  // The first number of a text; null where it has none.
  function number(text) {
    const found = text.replaceAll(",", "").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/);
    return found ? Number(found[0]) : null;
  }
  const words = new Intl.Collator("en", { numeric: true });

  // A click on a column's header sorts by it, a second click the other way round. What is not known stays last.
  function sortable(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows].map((row, at) => ({ row, keys: keys[at] }));
    function sort(column, isFigure, sign) {
      rows.sort((one, other) => {
        if (!isFigure) return sign * words.compare(one.keys[column], other.keys[column]);
        const [first, second] = [number(one.keys[column]), number(other.keys[column])];
        if (first === null || second === null) return (first === null) - (second === null);
        return sign * (first - second);
      });
      body.append(...rows.map(({ row }) => row));
    }
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        sort(column, head.classList.contains("n"), order === "ascending" ? 1 : -1);
      });
    });
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = "Click the header of a column to sort by it.";
    table.parentElement.before(note);
  }

  const place = document.querySelector(".charts");
  if (place) draw(place);
  const table = document.querySelector("table.sorted");
  if (table) sortable(table);
  charts.ready();
})();
