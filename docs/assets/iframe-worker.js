// Search from a folder: browsers start no workers from file://, so the worker's script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", resolve, { once: true });
      });
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      const scripts = `
        window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, fail) => {
          const script = document.createElement("script");
          script.src = url; script.onload = done; script.onerror = fail;
          document.body.appendChild(script);
        })), Promise.resolve());
        window.postMessage = (data) => parent.postMessage(data, "*");
      `;
      this.frame.srcdoc =
        `<!doctype html><html><body><script>${scripts}<\/script><script src="${url}"><\/script></body></html>`;
      document.body.appendChild(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
