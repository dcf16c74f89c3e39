//! A browser with the page in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Network, Page as Shown};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;
use testing::folder::Folder;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The page, open, and what the browser said of it.
pub(crate) struct Page {
    tab: Arc<Tab>,
    /// Errors and warnings.
    complaints: Arc<Mutex<Vec<String>>>,
    /// Addresses that were asked for.
    requests: Arc<Mutex<Vec<String>>>,
    /// Downloads go here.
    pub(crate) folder: Folder,
    browser: Browser,
}

impl Page {
    /// A new browser that shows the page.
    pub(crate) fn open() -> Page {
        let page = std::env::var("DBSTOW_PAGE").expect("run scripts/check-web: it builds the page");
        let folder = Folder::new();
        let inside = folder.root().display().to_string();
        let options = LaunchOptions::default_builder()
            .process_envs(Some(HashMap::from([("TMPDIR".to_owned(), inside.clone())])))
            .path(Some(PathBuf::from("/usr/bin/chromium")))
            // It runs as the tests' user, root included, and opens only our own file.
            .sandbox(false)
            .idle_browser_timeout(PATIENCE)
            .window_size(Some((1280, 900)))
            // What frames complain of is then reported with the page.
            .args(vec!["--disable-features=IsolateSandboxedIframes".as_ref()])
            .build();
        let browser = Browser::new(options.unwrap()).expect("a browser");
        let tab = browser.new_tab().unwrap();
        tab.set_default_timeout(PATIENCE);
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::new(Mutex::new(Vec::new()));
        tab.enable_log().unwrap();
        tab.enable_runtime().unwrap();
        tab.call_method(Network::Enable {
            max_total_buffer_size: None,
            max_resource_buffer_size: None,
            max_post_data_size: None,
            report_direct_socket_traffic: None,
            enable_durable_messages: None,
        })
        .unwrap();
        tab.call_method(Shown::SetDownloadBehavior {
            behavior: Shown::SetDownloadBehaviorBehaviorOption::Allow,
            download_path: Some(inside),
        })
        .unwrap();
        let (told, asked) = (Arc::clone(&complaints), Arc::clone(&requests));
        tab.add_event_listener(Arc::new(move |event: &Event| {
            let complaint = match event {
                Event::LogEntryAdded(entry) => entry.params.entry.text.clone(),
                Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params),
                Event::RuntimeConsoleAPICalled(call) => format!("{:?}", call.params),
                Event::NetworkRequestWillBeSent(sent) => {
                    let url = sent.params.request.url.clone();
                    asked.lock().unwrap().push(url);
                    return;
                }
                _ => return,
            };
            told.lock().unwrap().push(complaint);
        }))
        .unwrap();
        let url = format!("file://{page}");
        tab.navigate_to(&url)
            .unwrap()
            .wait_until_navigated()
            .unwrap();
        Page {
            tab,
            complaints,
            requests,
            folder,
            browser,
        }
    }

    /// What `script` evaluates to.
    pub(crate) fn ask(&self, script: &str) -> Value {
        let answer = self.tab.evaluate(script, true).expect(script);
        answer.value.unwrap_or(Value::Null)
    }

    pub(crate) fn text(&self, id: &str) -> String {
        let text = self.ask(&format!("document.getElementById('{id}').textContent"));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Whether it is shown.
    pub(crate) fn is_shown(&self, id: &str) -> bool {
        let script = format!("document.getElementById('{id}').checkVisibility()");
        self.ask(&script) == true
    }

    /// Waits until `script` is true.
    pub(crate) fn wait_for(&self, script: &str) {
        let started = Instant::now();
        while self.ask(script) != true {
            let state = "['reading', 'unread', 'fit', 'misfit', 'progress', 'refused']
                .map(id => id + ': ' + document.getElementById(id).textContent).join('; ')";
            assert!(
                started.elapsed() < PATIENCE,
                "{script} is still not true; {}; {:?}",
                self.ask(state),
                self.complaints()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until there is text in `id`, and returns it.
    pub(crate) fn wait_for_text(&self, id: &str) -> String {
        self.wait_for(&format!(
            "document.getElementById('{id}').textContent !== ''"
        ));
        self.text(id)
    }

    /// Waits until the answer is shown.
    pub(crate) fn wait_for_answer(&self) {
        self.wait_for(
            "!document.getElementById('answered').hidden || document.getElementById('refused').textContent !== ''",
        );
        assert_eq!(self.text("refused"), "");
    }

    /// Chooses files, as in the browser's own dialogue.
    pub(crate) fn choose(&self, files: &[&Path]) {
        self.choose_in("#file", files);
    }

    /// The same in the field that `selector` finds.
    pub(crate) fn choose_in(&self, selector: &str, files: &[&Path]) {
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let input = self.tab.find_element(selector).unwrap();
        input.set_input_files(&names).unwrap();
    }

    /// Drops a file on the page, with a mouse.
    pub(crate) fn drop(&self, name: &str, text: &str) {
        let [name, text] = [name, text].map(|text| Value::from(text).to_string());
        self.ask(&format!(
            "(() => {{
                const dropped = new DataTransfer();
                dropped.items.add(new File([{text}], {name}));
                document.getElementById('drop').dispatchEvent(new DragEvent('drop', {{ dataTransfer: dropped, bubbles: true, cancelable: true }}));
            }})()"
        ));
    }

    /// Writes into the field that `selector` finds, as by keyboard.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let text = Value::from(text);
        self.ask(&format!(
            "(() => {{
                const field = document.querySelector(\"{selector}\");
                field.value = {text};
                field.dispatchEvent(new Event('change', {{ bubbles: true }}));
            }})()"
        ));
    }

    pub(crate) fn click(&self, selector: &str) {
        self.ask(&format!("document.querySelector(\"{selector}\").click()"));
    }

    /// Saves the file that the link `id` offers, and returns its content.
    pub(crate) fn download(&self, id: &str) -> Vec<u8> {
        let name = self.text(id);
        self.click(&format!("#{id}"));
        let file = self.folder.path(&name);
        let started = Instant::now();
        // Its name is taken, empty, before what is downloaded has it.
        while std::fs::metadata(&file).map_or(0, |file| file.len()) == 0 {
            assert!(started.elapsed() < PATIENCE, "{name} is not there");
            thread::sleep(Duration::from_millis(50));
        }
        std::fs::read(file).unwrap()
    }

    /// Shows another file in the same window.
    pub(crate) fn show(&self, file: &Path) {
        let url = format!("file://{}", file.display());
        let shown = self.tab.navigate_to(&url).unwrap();
        shown.wait_until_navigated().unwrap();
    }

    /// The browser's process.
    pub(crate) fn process(&self) -> u32 {
        self.browser.get_process_id().expect("it was started here")
    }

    /// Makes the window so large, in pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.tab
            .call_method(Emulation::SetDeviceMetricsOverride {
                width,
                height,
                device_scale_factor: 1.0,
                mobile: false,
                scale: None,
                screen_width: None,
                screen_height: None,
                position_x: None,
                position_y: None,
                dont_set_visible_size: None,
                screen_orientation: None,
                viewport: None,
                display_feature: None,
                device_posture: None,
            })
            .unwrap();
    }

    /// What is in view as PNG, as it is on a screen that is light or dark.
    pub(crate) fn picture(&self, dark: bool) -> Vec<u8> {
        let scheme = Emulation::MediaFeature {
            name: "prefers-color-scheme".into(),
            value: if dark { "dark" } else { "light" }.into(),
        };
        self.tab
            .call_method(Emulation::SetEmulatedMedia {
                media: None,
                features: Some(vec![scheme]),
            })
            .unwrap();
        let png = Shown::CaptureScreenshotFormatOption::Png;
        self.tab.capture_screenshot(png, None, None, true).unwrap()
    }

    pub(crate) fn press(&self, key: &str) {
        self.tab.press_key(key).unwrap();
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap().clone()
    }

    /// Requests other than for the page itself and what is in it.
    pub(crate) fn requests(&self) -> Vec<String> {
        let all = self.requests.lock().unwrap().clone();
        let inside = ["file:", "blob:", "data:", "about:"];
        all.into_iter()
            .filter(|url| !inside.iter().any(|scheme| url.starts_with(scheme)))
            .collect()
    }
}
