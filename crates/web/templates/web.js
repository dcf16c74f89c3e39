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
    by("cancel").hidden = by("bar").hidden = true;
    return reject;
  }
  function stop() {
    if (worker) worker.terminate();
    worker = null;
    return waiting ? settled() : () => {};
  }
  // One question at a time: the next one ends the one before, which then has no answer. `place` says meanwhile what is done.
  function ask(message, place, doing, progressed) {
    if (waiting) stop();
    place.textContent = doing;
    return new Promise((resolve, reject) => {
      const own = waiting = { place, reject };
      const broken = (why) => stop()({ why: `dbstow failed: ${why}. Please report it; fewer or smaller files may work.` });
      const begin = (compiled) => {
        if (waiting !== own) return;
        if (!worker) {
          worker = new Worker(source);
          worker.postMessage({ module: compiled });
        }
        worker.onerror = (event) => broken(event.message || "the worker ended");
        worker.onmessage = ({ data }) => {
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

  async function read() {
    profile = "";
    importing = null;
    by("profile").hidden = by("answered").hidden = by("tested").hidden = true;
    by("notes").replaceChildren();
    for (const id of ["fit", "misfit", "refused", "progress"]) by(id).textContent = "";
    const isRead = await showing(by("unread"), async () => {
      const question = { call: "import", files, given: { devices: chosen("device"), instances: chosen("instance") } };
      const imported = await ask(question, by("reading"), "Reading …").catch((refused) => {
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

  function written() {
    const own = DISKS.filter(([role, disk]) => role === "data" || disk.value.trim());
    const volumes = own.map(([role, disk]) => `[volume.${role}]\ndisk = ${JSON.stringify(disk.value.trim())}\n`);
    const at = (role) => JSON.stringify(own.some(([other]) => other === role) ? role : "data");
    const placed = DISKS.map(([role]) => `${role} = { volumes = ${at(role)} }`);
    return `[machine]\ntype = ${JSON.stringify(by("machine").value.trim())}\n\n${volumes.join("\n")}\n[placement.today]\n${placed.join("\n")}\n`;
  }
  function pick() {
    if (!by("machine").value.trim() || !by("disk-data").value.trim()) return;
    by("layout").value = written();
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
      by("figures").textContent = tested.report;
      by("tested").hidden = false;
      if (tested.misfit.length) throw { why: `The recording does not fit this layout: ${tested.misfit.join("; ")}.` };
      by("fit").textContent = "The recording fits this layout: the model reproduces it.";
    });
  }

  // 3. The question.
  function asked() {
    const form = new FormData(by("asked"));
    const text = (name) => form.get(name).trim() || null;
    const number = (name) => (text(name) === null ? null : Number(text(name)));
    const capacity = {};
    for (const [role] of ROLES) if (text(role)) capacity[role] = text(role);
    return {
      cloud: text("cloud"), region: text("region"), budget: number("budget"), not_slower: number("not_slower") ?? 5,
      growth: number("growth") ?? 1, capacity, edition: text("edition"), own_licence: number("own_licence"),
      system: text("system"), quick: form.has("quick"), untested: form.has("untested"),
    };
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
    by("answered").hidden = false;
  }
  async function search(event) {
    event.preventDefault();
    const today = by("layout").value;
    const needed = !profile ? "Give a recording first." : !today.trim() ? "Say first what the server runs on." : "";
    by("refused").textContent = needed;
    if (needed) return;
    by("answered").hidden = true;
    const isAnswered = await showing(by("refused"), async () => {
      const question = { call: "advise", profile, today, asked: asked() };
      const answer = ask(question, by("progress"), "Replaying the recording on today's layout …", ([done, simulated, usd]) => {
        by("bar").value = done;
        by("progress").textContent = `${simulated} layouts simulated, now at $${usd.toFixed(0)} a month`;
      });
      by("bar").removeAttribute("value");
      by("cancel").hidden = by("bar").hidden = false;
      shown(await answer, today);
    });
    (isAnswered ? by("answer-title") : by("search")).focus();
  }

  by("file").addEventListener("change", (event) => take(event.target.files));
  by("choices").addEventListener("submit", (event) => { event.preventDefault(); read(); });
  document.querySelectorAll(".example").forEach((button, at) => button.addEventListener("click", () => {
    const { name, profile, today, asked } = examples[at];
    by("asked").reset();
    for (const [field, value] of asked) by("asked").elements[field].value = value;
    for (const input of [by("machine"), ...DISKS.map(([, input]) => input)]) input.value = "";
    by("layout").value = today;
    by("layout").closest("details").open = true;
    take([new File([profile], name)]);
  }));
  for (const input of [by("machine"), ...DISKS.map(([, input]) => input)]) input.addEventListener("change", pick);
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
  by("disks").replaceChildren(...options(known.disks));
})();
