"use strict";
// The page's forms, and the worker behind them. Nothing is decided here: what is read, tested and answered comes from the worker.
(() => {
  const by = (id) => document.getElementById(id);
  const { examples, known } = JSON.parse(by("data").textContent);
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    by("unsupported").hidden = false;
    return;
  }

  // The module is unpacked once; a worker that was ended costs the next question a new one.
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  }
  const module = unpacked(by("module").textContent);
  const source = URL.createObjectURL(new Blob([by("bindings").textContent, "\n", by("worker").textContent], { type: "text/javascript" }));
  let worker = null;
  let waiting = null;

  // What is waited for, and where that is said.
  function settled() {
    const { place, reject } = waiting;
    waiting = null;
    place.textContent = "";
    by("cancel").hidden = by("bar").hidden = by("read").hidden = true;
    return reject;
  }
  function stop() {
    if (worker) worker.terminate();
    worker = null;
    forget();
    return waiting ? settled() : () => {};
  }
  // One question at a time: the next one ends the one before, which then has no answer. `place` says meanwhile what is done.
  function ask(message, place, doing, progressed) {
    if (waiting) stop();
    place.textContent = doing;
    return new Promise((resolve, reject) => {
      const own = waiting = { place, reject };
      const broken = (problem) => {
        const why = `dbstow failed: ${problem}. Please report it; fewer or smaller files may work.`;
        if (!waiting) by("refused").textContent = why;
        stop()({ why });
      };
      const begin = (compiled) => {
        if (waiting !== own) return;
        if (!worker) {
          worker = new Worker(source);
          worker.postMessage({ module: compiled });
        }
        worker.onerror = (event) => broken(event.message || "the worker ended");
        worker.onmessage = ({ data }) => {
          if (data.replayed) return replayed(data.replayed);
          if (waiting !== own && !data.broken) return undefined;
          if (data.progress) return progressed && progressed(data.progress);
          if (data.broken) return broken(data.broken);
          settled();
          if (data.refused) reject(JSON.parse(data.refused)); else resolve(JSON.parse(data.answer));
        };
        worker.postMessage(message);
      };
      module.then(begin, (error) => broken(error.message));
    });
  }
  // Runs `work` and shows in `place` why it ended without an answer.
  async function showing(place, work) {
    place.textContent = "";
    try {
      await work();
      return true;
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      place.textContent = refused.why;
      return false;
    }
  }
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const entered = (form, name) => (form.get(name) ?? "").trim() || null;
  const list = (place, texts) => place.replaceChildren(...texts.map((text) => element("li", {}, text)));

  // 1. The recording.
  const ROLES = [["data", "data"], ["log", "log"], ["temp", "temporary files"]];
  let files = [];
  let profile = "";
  let importing = null;

  // What a file leaves open, to be clicked. What was chosen stays, so that it can be changed.
  function offer({ devices, instances }) {
    const box = (name, value, text) => element("label", {}, element("input", { type: "checkbox", name, value }), text);
    const rows = (place, names, boxes) => {
      if (!names.length) return;
      place.querySelector(".choices").replaceChildren(...names.map((name) => element("div", { className: "choice" }, ...boxes(name))));
      place.hidden = by("choices").hidden = false;
    };
    rows(by("instances"), instances, (name) => [box("instance", name, name)]);
    rows(by("devices"), devices, (name) => [
      element("b", {}, name),
      ...ROLES.map(([role, text]) => {
        const label = box("device", `${role}=${name}`, text);
        label.firstChild.setAttribute("aria-label", `${name} has ${text}`);
        return label;
      }),
    ]);
  }
  function closeChoices() {
    for (const id of ["choices", "instances", "devices"]) by(id).hidden = true;
    for (const place of document.querySelectorAll("#choices .choices")) place.replaceChildren();
  }
  const chosen = (name) => new FormData(by("choices")).getAll(name);

  function given() {
    const form = new FormData(by("given"));
    const said = ["format", "start", "interval", "utc_offset", "dates", "machine"].map((name) => [name, entered(form, name)]);
    return { devices: chosen("device"), instances: chosen("instance"), ...Object.fromEntries(said) };
  }

  async function read() {
    profile = "";
    importing = null;
    by("profile").hidden = by("answered").hidden = by("tested").hidden = true;
    by("notes").replaceChildren();
    for (const id of ["fit", "misfit", "refused", "progress"]) by(id).textContent = "";
    const isRead = await showing(by("unread"), async () => {
      const reading = ask({ call: "import", files, given: given() }, by("reading"), "Reading …", ([done]) => {
        by("read").value = done;
        if (done === 1) by("reading").textContent = "Read; making a profile of it …";
      });
      by("read").value = 0;
      by("read").hidden = false;
      const imported = await reading.catch((refused) => {
        if (refused.devices) offer(refused);
        throw refused;
      });
      profile = imported.profile;
      importing = imported.command;
      by("reading").textContent = `Read: ${imported.from}.`;
      list(by("notes"), imported.notes);
      by("profile").srcdoc = imported.page;
      by("profile").hidden = false;
    });
    by("unread").textContent = naming(by("unread").textContent, "given");
    if (isRead) await test();
  }
  function take(dropped) {
    files = [...dropped];
    if (!files.length) return;
    closeChoices();
    read();
  }

  // 2. What the server runs on.
  const DISKS = ["data", "log", "temp"].map((role) => [role, by(`disk-${role}`)]);

  const filled = (id) => by(id).value.trim();
  // What the fields, or an example, wrote into the layout: what differs was edited.
  let fromFields = "";

  function written() {
    const own = DISKS.filter(([role, disk]) => role === "data" || disk.value.trim());
    const line = (key, text) => (text ? [`${key} = ${JSON.stringify(text)}`] : []);
    const volumes = own.map(([role]) => [`[volume.${role}]`, ...line("disk", filled(`disk-${role}`)), ...line("size", filled(`size-${role}`)), ""]);
    const machine = filled("machine") ? line("type", filled("machine")) : [`cores = ${filled("cores")}`, ...line("memory", filled("memory"))];
    const at = (role) => JSON.stringify(own.some(([other]) => other === role) ? role : "data");
    const placed = DISKS.map(([role]) => `${role} = { volumes = ${at(role)} }`);
    return ["[machine]", ...machine, "", ...volumes.flat(), "[placement.today]", ...placed, ""].join("\n");
  }
  function pick() {
    const isNamed = filled("machine") || (filled("cores") && filled("memory"));
    if (!isNamed || !filled("disk-data")) return;
    if (![fromFields, ""].includes(by("layout").value.trim())) {
      by("misfit").textContent = "today.toml below was edited, so it stays as it is: edit it there, or empty it and these fields write it again.";
      return;
    }
    by("layout").value = written();
    fromFields = by("layout").value.trim();
    test();
  }
  // By itself, as soon as there is a recording and a layout.
  async function test() {
    by("tested").hidden = true;
    by("fit").textContent = by("misfit").textContent = "";
    if (!profile || !by("layout").value.trim()) return;
    await showing(by("misfit"), async () => {
      const question = { call: "back_test", profile, today: by("layout").value };
      const tested = await ask(question, by("fit"), "Replaying the recording on this layout …");
      by("figures").srcdoc = tested.report;
      by("tested").hidden = false;
      if (tested.misfit.length) {
        const ways = "On this page: correct machine and disks; or take “recorded” as a disk, which is as the recording shows it; or tick “Answer even if ..” below.";
        throw { why: `The recording does not fit this layout: ${tested.misfit.join("; ")}. ${ways}` };
      }
      by("fit").textContent = "The recording fits this layout: the model reproduces it.";
    });
  }

  // 3. The question.
  async function asked() {
    const form = new FormData(by("asked"));
    const text = (name) => entered(form, name);
    const number = (name) => (text(name) === null ? null : Number(text(name)));
    const capacity = {};
    for (const [role] of ROLES) if (text(role)) capacity[role] = text(role);
    const file = form.get("prices");
    const all = { capacity, disks: (text("disks") ?? "").split(/[\s,]+/).filter(Boolean) };
    for (const name of ["cloud", "region", "machine", "temp_on", "edition", "licence", "term", "system"]) all[name] = text(name);
    for (const name of ["budget", "disks_max", "licence_price", "discount"]) all[name] = number(name);
    for (const [name, usual] of [["not_slower", 5], ["growth", 1], ["replicas", 0], ["backup_days", 0]]) all[name] = number(name) ?? usual;
    for (const name of ["keep_machine", "arm", "any_generation", "passive_secondary", "quick", "nominal", "untested"]) all[name] = form.has(name);
    all.prices = file.name ? { name: file.name, text: await file.text() } : null;
    return all;
  }
  function offered(id, type, text) {
    const link = by(id);
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = link.textContent;
  }
  function shown(answer, today) {
    by("advice").srcdoc = answer.html;
    offered("to-html", "text/html", answer.html);
    offered("to-json", "application/json", answer.json);
    offered("to-finalists", "text/plain", answer.finalists);
    offered("to-profile", "text/plain", profile);
    offered("to-today", "text/plain", today);
    list(by("left-out"), answer.notes);
    by("command").textContent = [importing, answer.command].filter(Boolean).join("\n");
    by("untested").hidden = !answer.untested;
    offerSliders(answer);
    by("answered").hidden = false;
  }
  // Where the library names an option, its field is named too, and is shown.
  function naming(text, form) {
    const other = { capacity: "data", disk: "disks", temp: "temp_on" };
    const options = [...new Set([...text.matchAll(/--([a-z-]+)/g)].map(([, option]) => option))];
    const fields = options.map((option) => by(form).elements[other[option] ?? option.replaceAll("-", "_")]).filter(Boolean);
    for (const field of fields) if (field.closest("details")) field.closest("details").open = true;
    // A list's choices are in its label too, behind its name.
    const labels = fields.map(({ labels: [label] }) => (label.firstChild.textContent || label.textContent).trim());
    return fields.length ? `${text} (In the form: ${labels.join("; ")}.)` : text;
  }
  async function search(event) {
    event.preventDefault();
    const today = by("layout").value;
    const needed = !profile ? "Give a recording first." : !today.trim() ? "Say first what the server runs on." : "";
    by("refused").textContent = needed;
    if (needed) return;
    by("answered").hidden = true;
    const isAnswered = await showing(by("refused"), async () => {
      const question = { call: "advise", profile, today, asked: await asked() };
      const answer = ask(question, by("progress"), "Replaying the recording on today's layout …", ([done, simulated, usd]) => {
        by("bar").value = done;
        by("progress").textContent = `Simulated layouts: ${simulated}; now at $${usd.toFixed(0)} a month`;
      });
      by("bar").removeAttribute("value");
      by("cancel").hidden = by("bar").hidden = false;
      shown(await answer, today);
    });
    by("refused").textContent = naming(by("refused").textContent, "asked");
    (isAnswered ? by("answer-title") : by("search")).focus();
  }

  // 4. Sliders: what they are moved to is simulated by the worker, which keeps the answer. The last value wins.
  const REST_MS = 400;
  // Where the whole takes no longer, a tenth of it is not simulated first.
  const AT_ONCE_MS = 120;
  let adjustable = [];
  let wanted = null;
  let asking = null;
  let resting = 0;
  const moving = () => [...by("sliders").querySelectorAll("input")];

  // Without the worker that has the answer there is nothing to move.
  function forget() {
    clearTimeout(resting);
    wanted = asking = null;
    by("what-if").hidden = true;
  }
  function offerSliders({ layouts, chosen }) {
    forget();
    adjustable = layouts;
    by("what-if").hidden = !layouts.length;
    by("of").replaceChildren(...layouts.map(({ name }, at) => element("option", { value: at }, name)));
    if (!layouts.length) return;
    by("of").value = chosen;
    adjust();
  }
  function adjust() {
    delete by("what-if").dataset.wholeMs;
    by("sliders").replaceChildren(...adjustable[by("of").value].sliders.map(({ key, label, least, most, step, value }) => {
      const input = element("input", { type: "range", name: key, min: least, max: most, step, value, defaultValue: value });
      input.dataset.first = input.value;
      input.dataset.value = value;
      return element("label", {}, label, " ", element("output", {}), input);
    }));
    moved();
  }
  function moved() {
    const values = {};
    for (const input of moving()) {
      const isMoved = input.value !== input.dataset.first;
      const value = Number(isMoved ? input.value : input.dataset.value);
      if (isMoved) values[input.name] = value;
      input.previousSibling.textContent = input.ariaValueText = value.toLocaleString("en-US");
    }
    const question = { layout: Number(by("of").value), values };
    clearTimeout(resting);
    const isQuick = Number(by("what-if").dataset.wholeMs) <= AT_ONCE_MS;
    simulate({ ...question, whole: isQuick });
    if (!isQuick) resting = setTimeout(() => simulate({ ...question, whole: true }), REST_MS);
  }
  function simulate(question) {
    wanted = question;
    if (asking || !worker) return;
    asking = { at: performance.now(), whole: wanted.whole };
    worker.postMessage({ call: "what_if", moved: wanted });
    wanted = null;
  }
  function replayed({ refused, answer }) {
    if (!asking) return;
    by("what-if").dataset[asking.whole ? "wholeMs" : "ms"] = Math.round(performance.now() - asking.at);
    asking = null;
    if (wanted) simulate(wanted);
    const { card, lacking, part } = answer ? JSON.parse(answer) : { lacking: [JSON.parse(refused).why] };
    by("simulated").textContent = card ? `${card.price}; ${card.time}` : "";
    by("simulated-why").textContent = card ? `${card.held_back}.` : "";
    by("simulated-part").textContent = part ? `Simulated ${part}.` : card ? "From a whole simulation, of one seed." : "";
    by("lacking").textContent = lacking.join(" ");
  }

  by("file").addEventListener("change", (event) => take(event.target.files));
  for (const id of ["choices", "given"]) {
    by(id).addEventListener("submit", (event) => {
      event.preventDefault();
      if (files.length) read(); else by("unread").textContent = "Give a recording first.";
    });
  }
  by("of").addEventListener("change", adjust);
  by("sliders").addEventListener("input", moved);
  by("what-if").addEventListener("reset", () => {
    const layout = by("of").value;
    setTimeout(() => {
      by("of").value = layout;
      adjust();
    });
  });
  by("what-if").addEventListener("submit", (event) => event.preventDefault());
  document.querySelectorAll(".example").forEach((button, at) => button.addEventListener("click", () => {
    const { name, profile, today, asked } = examples[at];
    by("asked").reset();
    for (const [field, value] of asked) by("asked").elements[field].value = value;
    for (const input of by("runs-on").querySelectorAll("input")) input.value = "";
    by("layout").value = today;
    fromFields = today.trim();
    by("layout").closest("details").open = true;
    take([new File([profile], name)]);
  }));
  by("runs-on").addEventListener("change", pick);
  by("test").addEventListener("click", test);
  by("asked").addEventListener("submit", search);
  by("cancel").addEventListener("click", () => stop()({ why: "Cancelled." }));
  const drop = by("drop");
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files);
    });
  }
  // A file that misses the field would replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());

  const options = (entries) => entries.map(({ name, title }) => element("option", { value: name, label: title }));
  by("machines").replaceChildren(...options(known.machines));
  by("disks").replaceChildren(...options([{ name: "recorded", title: "as the recording shows it" }, ...known.disks]));
})();
