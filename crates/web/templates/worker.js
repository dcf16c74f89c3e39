// Behind the bindings: answers one message after another. What is answered is computed by the module.
let ready = null;
let why = "";
function progressed(...progress) {
  postMessage({ progress });
}
function panicked(text) {
  why = text;
}
const calls = {
  import({ files, given }) {
    wasm_bindgen.check_size(files.reduce((bytes, file) => bytes + file.size, 0));
    const all = new wasm_bindgen.Files();
    const reader = new FileReaderSync();
    for (const file of files) all.add(file.name, new Uint8Array(reader.readAsArrayBuffer(file)));
    return all.import(JSON.stringify(given));
  },
  back_test: ({ profile, today }) => wasm_bindgen.back_test(profile, today),
  advise: ({ profile, today, asked }) => wasm_bindgen.advise(profile, today, JSON.stringify(asked)),
};
onmessage = async ({ data }) => {
  if (data.module) {
    ready = wasm_bindgen({ module_or_path: data.module });
    return;
  }
  try {
    await ready;
    postMessage({ answer: calls[data.call](data) });
  } catch (error) {
    // The module gives its reasons as JSON; anything else is a mistake in it, or a lack of memory, after which it is of no use.
    if (typeof error === "string") postMessage({ refused: error });
    else postMessage({ broken: why || String(error) });
  }
};
