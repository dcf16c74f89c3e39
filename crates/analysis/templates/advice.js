// Draws layouts by price and time, as they are, shows those that are clicked in full, and sorts their table: no figure is
// computed here.
(function () {
  "use strict";
  const { chart: { unit, groups, x, lines }, keys } = JSON.parse(document.getElementById("data").textContent);
  const { colour, digits } = charts;
  // Values that differ by more than this factor are drawn on a logarithmic axis.
  const LINEAR_MAX = 20;
  // Pixels from a point within which a click is on it.
  const NEAR = 40;
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

  // Layouts in full: what is clicked is shown, two of them side by side; a third takes the place of the first.
  function inFull(fold) {
    const cards = [...fold.querySelectorAll(".card")];
    const changed = [];
    let chosen = [];
    const said = document.createElement("p");
    said.className = "note";
    said.setAttribute("role", "status");
    const picks = document.createElement("div");
    picks.className = "picks";
    picks.setAttribute("role", "group");
    picks.setAttribute("aria-label", "Layouts to show in full");
    const buttons = cards.map((card, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = card.dataset.label;
      button.addEventListener("click", () => pick(at));
      return button;
    });
    picks.append(...buttons);
    function show() {
      cards.forEach((card, at) => { card.hidden = !chosen.includes(at); });
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(chosen.includes(at))));
      said.textContent = chosen.length ? "Shown: " + chosen.map((at) => cards[at].dataset.label).join("; ") + "." : "None is shown.";
      changed.forEach((call) => call());
    }
    function pick(at) {
      chosen = chosen.includes(at) ? chosen.filter((other) => other !== at) : [...chosen.slice(-1), at];
      fold.open = true;
      show();
    }
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = (place ? "Click a point of the chart, or its" : "Click a") + " name here; a second one is shown beside it.";
    fold.querySelector(".cards").before(note, picks, said);
    fold.open = true;
    chosen = cards.map((_, at) => at).filter((at) => cards[at].classList.contains("chosen")).slice(0, 1);
    show();
    return { pick, chosen: () => chosen, onChange: (call) => changed.push(call) };
  }
  // Where a layout is drawn, in pixels of the plot or, as the canvas counts, of the screen.
  function* drawnAt(u, onCanvas) {
    for (const [at, line] of lines.entries()) {
      if (!charts.shown[at]) continue;
      for (const [place, point] of line.points.entries()) {
        if (point === null) continue;
        yield { point, left: u.valToPos(x[place], "x", onCanvas), top: u.valToPos(line.values[place], "y", onCanvas) };
      }
    }
  }
  // A click chooses the nearest layout, unless it is far from all.
  function clickable(u, full) {
    u.over.style.cursor = "pointer";
    u.over.addEventListener("click", (event) => {
      const at = u.over.getBoundingClientRect();
      const [left, top] = [event.clientX - at.left, event.clientY - at.top];
      const far = ({ left: x, top: y }) => Math.hypot(x - left, y - top);
      const nearest = [...drawnAt(u, false)].reduce((best, one) => (best && far(best) <= far(one) ? best : one), null);
      if (nearest && far(nearest) <= NEAR) full.pick(nearest.point);
    });
    full.onChange(() => u.redraw());
  }
  // A ring around what is shown in full.
  function mark(u, full) {
    for (const { point, left, top } of drawnAt(u, true)) {
      if (!full.chosen().includes(point)) continue;
      u.ctx.beginPath();
      u.ctx.arc(left, top, 13 * devicePixelRatio, 0, 2 * Math.PI);
      u.ctx.strokeStyle = charts.style("--text");
      u.ctx.lineWidth = 2 * devicePixelRatio;
      u.ctx.stroke();
    }
  }

  function draw(place, full) {
    const price = form(x);
    const time = form(lines.flatMap((line) => line.values.filter((value) => value !== null)));
    // What is zoomed to is shown as it is.
    const range = (u, low, high) => (low === x[0] && high === x[x.length - 1] ? price.scale.range(u, low, high) : [low, high]);
    if (groups.length > 1) charts.legend(place, "Layouts shown");
    charts.draw(place, "Time of an operation by price", {
      scales: { x: Object.assign({ time: false }, price.scale, { range }), y: time.scale },
      axes: [charts.axis(unit, price.axis), charts.axis("% of today's time", Object.assign({ size: 62 }, time.axis))],
      hooks: full ? { ready: [(u) => clickable(u, full)], draw: [(u) => mark(u, full)] } : {},
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
  const fold = document.querySelector("#points");
  const full = fold && inFull(fold);
  if (place) draw(place, full);
  const table = document.querySelector("table.sorted");
  if (table) sortable(table);
  charts.ready();
})();
