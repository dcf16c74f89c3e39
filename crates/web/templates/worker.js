// Behind the bindings: unpacks the module once, and answers one message after another.
let ready = null;
function progressed(...progress) {
  postMessage({ progress });
}
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  await wasm_bindgen({ module_or_path: module });
}
const calls = {
  import({ files, devices }) {
    const all = new wasm_bindgen.Files();
    for (const { name, bytes } of files) all.add(name, bytes);
    return all.import(devices);
  },
  back_test: ({ profile, today }) => wasm_bindgen.back_test(profile, today),
  advise: ({ profile, today, asked }) => wasm_bindgen.advise(profile, today, JSON.stringify(asked)),
};
onmessage = async ({ data }) => {
  if (data.wasm) {
    ready = unpack(data.wasm);
    return;
  }
  try {
    await ready;
    postMessage({ answer: calls[data.call](data) });
  } catch (error) {
    postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
