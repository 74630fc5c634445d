"use strict";
(() => {
  const data = JSON.parse(document.getElementById("records").textContent);
  const inside = data.inside;
  const seriesKeys = new Set(["dead", "saturated", "spread", "gradient", "update", "rank"]);
  const record = (key) => (seriesKeys.has(key) ? inside : data[key]);
  const root = document.documentElement;

  // charts
  const places = [...document.querySelectorAll("[data-chart]")];
  const widths = new WeakMap();
  function draw(element) {
    const width = Math.max(Math.floor(element.clientWidth), 240);
    widths.set(element, width);
    try {
      element.replaceChildren(charts[element.dataset.chart](record(element.dataset.key), width, element));
    } catch (error) {
      console.error(`${element.dataset.chart}: ${error.stack}`); // the other charts are drawn all the same
      element.textContent = "This chart could not be drawn.";
    }
  }
  function drawAll() {
    places.forEach(draw);
    drawHistograms();
  }

  // the layers at one look
  const slider = document.getElementById("step");
  const words = document.getElementById("step-words");
  const choice = { forward: document.getElementById("forward"), backward: document.getElementById("backward") };
  const scales = { forward: document.getElementById("forward-scale"), backward: document.getElementById("backward-scale") };
  const cells = [...document.querySelectorAll(".histogram")];
  const look = () => (slider ? Number(slider.value) : 0);
  function drawHistograms() {
    if (!inside) return;
    const k = look();
    cells.forEach((cell) => {
      const side = cell.dataset.side;
      const layer = inside.layers[Number(cell.dataset.layer)];
      const quantity = choice[side].value;
      const frames = layer.frames[quantity];
      const line = cell.parentElement.querySelector(".layer-words");
      if (!frames) {
        cell.replaceChildren();
        line.textContent = "not measured";
        return;
      }
      const name = choice[side].selectedOptions[0].textContent;
      const parts = [`mean ${short(frames.mean[k])}`, `deviation ${short(frames.std[k])}`];
      if (frames.zeros[k] > 0) parts.push(`${percent(frames.zeros[k])} exactly 0`);
      if (quantity === "a" && layer.dead[k] > 0) parts.push(`${Math.round(layer.dead[k] * layer.units)} dead`);
      line.textContent = parts.join(" · ");
      const label = `${layer.name}, ${name}: ${line.textContent}`;
      cell.setAttribute("aria-label", label);
      cell.replaceChildren(histogram(frames, k, Math.max(cell.clientWidth, 150), label, side === "forward" ? "var(--c1)" : "var(--c2)", !scales[side] || scales[side].checked));
    });
    if (slider) {
      const loss = inside.loss[k] === null ? "" : ` · loss ${short(inside.loss[k])}`;
      words.textContent = `${inside.steps[k]} · epoch ${inside.epochs[k]}${loss}`;
      slider.setAttribute("aria-valuetext", `step ${inside.steps[k]}, epoch ${inside.epochs[k]}`);
    }
  }
  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(drawHistograms);
  };
  if (slider) slider.addEventListener("input", soon);
  [...Object.values(choice), ...Object.values(scales)].forEach((control) => control && control.addEventListener("change", soon));

  // the training passes by
  const play = document.getElementById("play");
  let timer = null;
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Play";
    play.setAttribute("aria-pressed", "false");
  }
  if (play) {
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (look() === inside.steps.length - 1) slider.value = 0;
      play.textContent = "❚❚ Pause";
      play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        if (look() >= inside.steps.length - 1) return stop();
        slider.value = look() + 1;
        drawHistograms();
      }, Math.max(60, 4000 / inside.steps.length));
    });
    slider.addEventListener("pointerdown", () => timer && stop());
    slider.addEventListener("keydown", () => timer && stop());
  }

  // light and dark
  const theme = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  function tellTheme() {
    theme.textContent = isDark() ? "☀ Light" : "☾ Dark";
    theme.setAttribute("aria-label", isDark() ? "Change to light colours" : "Change to dark colours");
    images(); // they have colours of their own
  }
  const remember = (value) => {
    try {
      localStorage.setItem("pellucid-theme", value);
    } catch {
      // a page in a frame, or a file, may not be allowed to
    }
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    tellTheme();
  });
  dark.addEventListener("change", tellTheme);
  try {
    const kept = localStorage.getItem("pellucid-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // as above
  }

  // paper: white, with everything unfolded
  const images = () => places.filter((element) => element.dataset.chart === "units").forEach(draw);
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => (details.open = true));
    root.dataset.printing = "true";
    images();
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((details) => (details.open = false));
    delete root.dataset.printing;
    images();
  });

  // copying
  document.querySelectorAll(".copy").forEach((button) =>
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(button.parentElement.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    }),
  );

  // where one is
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(
    (entries) =>
      entries.forEach((entry) => {
        if (!entry.isIntersecting) return;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }),
    { rootMargin: "-10% 0px -80% 0px" },
  );
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));

  drawAll();
  tellTheme();
  let resized = 0;
  new ResizeObserver(() => {
    clearTimeout(resized);
    resized = setTimeout(() => {
      places.filter((element) => element.dataset.chart !== "spark" && Math.abs(element.clientWidth - widths.get(element)) > 2 && element.clientWidth).forEach(draw);
      drawHistograms();
    }, 120);
  }).observe(document.querySelector("main"));
  root.dataset.ready = "true";
})();
