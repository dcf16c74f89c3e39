// Behind the bindings: answers one message after another. What is answered is computed by the module.
let ready = null;
let why = "";
function progressed(...progress) {
  postMessage({ progress });
}
function panicked(text) {
  why = text;
}
// Bytes that are read at a time: files may be larger than what a browser gives at once.
const SLICE = 4 << 20;
// The last answer, for its sliders.
let advised = null;

const calls = {
  import({ files, given }) {
    const all = files.reduce((bytes, file) => bytes + file.size, 0);
    wasm_bindgen.check_size(all);
    const taken = new wasm_bindgen.Files();
    const reader = new FileReaderSync();
    let read = 0;
    for (const file of files) {
      taken.begin(file.name, file.size);
      for (let at = 0; at < file.size; at += SLICE) {
        const bytes = new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + SLICE)));
        taken.add(bytes);
        read += bytes.length;
        progressed(read / all);
      }
    }
    return taken.import(JSON.stringify(given));
  },
  back_test: ({ profile, today }) => wasm_bindgen.back_test(profile, today),
  advise({ profile, today, asked }) {
    const next = wasm_bindgen.advise(profile, today, JSON.stringify(asked));
    if (advised) advised.free();
    advised = next;
    return advised.answer();
  },
};
function what_if(moved) {
  try {
    return { answer: advised.replayed(JSON.stringify(moved)) };
  } catch (error) {
    if (typeof error !== "string") throw error;
    return { refused: error };
  }
}
onmessage = async ({ data }) => {
  if (data.module) {
    ready = wasm_bindgen({ module_or_path: data.module });
    return;
  }
  try {
    await ready;
    postMessage(data.moved ? { replayed: what_if(data.moved) } : { answer: calls[data.call](data) });
  } catch (error) {
    // The module gives its reasons as JSON; anything else is a mistake in it, or a lack of memory, after which it is of no use.
    if (typeof error === "string") postMessage({ refused: error });
    else postMessage({ broken: why || String(error) });
  }
};
