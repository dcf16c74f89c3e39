"use strict";
// The page's forms, and the worker behind them. It decides nothing: what is read, tested and answered comes from the worker.
(() => {
  const by = (id) => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    by("unsupported").hidden = false;
    return;
  }
  const source = URL.createObjectURL(new Blob([by("worker").textContent], { type: "text/javascript" }));
  let worker = null;
  let waiting = null;
  let profile = "";

  // One question at a time: the next one ends the one before.
  function ask(message, progressed) {
    if (waiting) stop();
    if (!worker) {
      worker = new Worker(source);
      worker.postMessage({ wasm: by("wasm").textContent });
    }
    return new Promise((resolve, reject) => {
      waiting = { reject };
      worker.onerror = (event) => { stop(); reject(new Error(event.message || "the search stopped; reload the page")); };
      worker.onmessage = ({ data: said }) => {
        if (said.progress) return progressed && progressed(said.progress);
        waiting = null;
        if (said.error) reject(new Error(said.error)); else resolve(JSON.parse(said.answer));
      };
      worker.postMessage(message);
    });
  }
  function stop() {
    if (worker) worker.terminate();
    worker = null;
    waiting = null;
  }
  const fail = (error) => { by("error").textContent = error.message; };
  const clear = () => { by("error").textContent = ""; };

  async function read(files) {
    clear();
    by("read").textContent = "Reading …";
    try {
      const all = await Promise.all([...files].map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
      const devices = by("devices").value.split(/\s+/).filter(Boolean);
      const imported = await ask({ call: "import", files: all, devices });
      profile = imported.profile;
      by("read").textContent = `Read: ${imported.from}.`;
      by("notes").replaceChildren(...imported.notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })));
      by("profile").srcdoc = imported.page;
      by("profile").hidden = false;
      if (by("layout").value) await test();
    } catch (error) {
      by("read").textContent = "";
      fail(error);
    }
  }

  async function test() {
    clear();
    by("fit").textContent = "Replaying …";
    try {
      const tested = await ask({ call: "back_test", profile, today: by("layout").value });
      by("fit").textContent = tested.misfit.length ? `The recording does not fit: ${tested.misfit.join(" ")}` : "The recording fits this layout.";
      by("figures").textContent = tested.report;
      by("figures").hidden = false;
    } catch (error) {
      by("fit").textContent = "";
      fail(error);
    }
  }

  function layout() {
    const quoted = (text) => JSON.stringify(text);
    const roles = ["data", "temp", "log"];
    const disk = (role) => by(`disk-${role}`).value;
    const own = roles.filter((role) => role === "data" || disk(role));
    const volumes = own.map((role) => `[volume.${role}]\ndisk = ${quoted(disk(role))}\n`);
    const placed = roles.map((role) => `${role} = { volumes = ${quoted(own.includes(role) ? role : "data")} }`);
    by("layout").value = `[machine]\ntype = ${quoted(by("machine").value)}\n\n${volumes.join("\n")}\n[placement.today]\n${placed.join("\n")}\n`;
  }

  const number = (text) => (text.trim() === "" ? null : Number(text));
  function asked() {
    const form = new FormData(by("asked"));
    const text = (name) => form.get(name).trim() || null;
    const capacity = {};
    for (const role of ["data", "log", "temp"]) if (text(role)) capacity[role] = text(role);
    return {
      cloud: text("cloud"), region: text("region"), budget: number(form.get("budget")), edition: text("edition"),
      not_slower: number(form.get("not_slower")) ?? 5, growth: number(form.get("growth")) ?? 1, capacity,
      own_licence: number(form.get("own_licence")),
    };
  }

  function download(id, name, type, text) {
    const link = by(id);
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
  }

  async function search(event) {
    event.preventDefault();
    clear();
    by("cancel").hidden = by("bar").hidden = false;
    by("progress").textContent = "Replaying on today's layout …";
    const today = by("layout").value;
    try {
      const answer = await ask({ call: "advise", profile, today, asked: asked() }, ([done, simulated, usd]) => {
        by("bar").value = done;
        by("progress").textContent = `${simulated} simulated, at $${usd.toFixed(0)} a month`;
      });
      by("advice").srcdoc = answer.html;
      download("to-html", "advice.html", "text/html", answer.html);
      download("to-json", "advice.json", "application/json", answer.json);
      download("to-finalists", "finalists.toml", "text/plain", answer.finalists);
      download("to-profile", "profile.toml", "text/plain", profile);
      download("to-today", "today.toml", "text/plain", today);
      by("command").textContent = answer.command;
      by("answered").hidden = false;
      by("progress").textContent = answer.notes.join(" ");
      by("answer-title").scrollIntoView();
    } catch (error) {
      by("progress").textContent = "";
      fail(error);
    }
    by("cancel").hidden = by("bar").hidden = true;
  }

  const options = (names) => names.map((name) => Object.assign(document.createElement("option"), { value: name }));
  by("machines").replaceChildren(...options(data.machines));
  by("disks").replaceChildren(...options(data.disks));
  by("file").addEventListener("change", (event) => read(event.target.files));
  by("example").addEventListener("click", () => {
    by("layout").value = data.today;
    for (const [name, value] of [["data", "60GiB"], ["log", "20GiB"], ["cloud", "azure"]]) by("asked").elements[name].value = value;
    read([new File([data.profile], "shop.toml")]);
  });
  for (const id of ["machine", "disk-data", "disk-log", "disk-temp"]) by(id).addEventListener("change", () => { layout(); if (profile) test(); });
  by("test").addEventListener("click", test);
  by("asked").addEventListener("submit", search);
  by("cancel").addEventListener("click", () => {
    const cancelled = waiting;
    stop();
    if (cancelled) cancelled.reject(new Error("Cancelled."));
  });
  const drop = by("drop");
  for (const name of ["dragover", "dragleave", "drop"]) drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name === "drop") read(event.dataTransfer.files);
  });
})();
