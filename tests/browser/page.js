// What a browser shows of a card: an object of functions, which the tests call in the page by their names.
({
  // Open all that is folded, so that nothing is missed.
  unfold: () => document.querySelectorAll("details").forEach(fold => { fold.open = true; }),

  // Leave two rows of each table behind a figure: the others are like them.
  thin: () => document.querySelectorAll(".points tbody tr:nth-child(n+3)").forEach(row => row.remove()),

  // Mark of each look of text, its colour, ground, size and weight, the first element.
  mark: () => {
    const ground = e => {
      const colour = getComputedStyle(e).backgroundColor;
      return e.parentElement && colour === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : colour;
    };
    const known = new Set();
    for (const e of document.querySelectorAll("body *:not(svg, svg *)")) {
      if (![...e.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
      const style = getComputedStyle(e);
      const look = [style.color, ground(e), style.fontSize, style.fontWeight, style.opacity].join();
      e.toggleAttribute("data-look", !known.has(look));
      known.add(look);
    }
    return known.size;
  },

  // How the page fits its width.
  fit: () => {
    const root = document.documentElement, edge = root.clientWidth + 1;
    const beyond = e => e.getBoundingClientRect().right > edge;
    const name = e => `${e.tagName}: ${e.textContent.trim().slice(0, 60)}`;
    const figures = [...document.querySelectorAll("figure svg")];
    const texts = [...document.querySelectorAll("p, h1, h2, h3, h4, li, figure, dt, dd, pre, caption, summary, th, td")];
    return {
      width: root.clientWidth,
      scroll: root.scrollWidth,
      wide: texts.filter(e => !e.closest(".scroll, .measures thead")).filter(beyond).map(name),
      spilt: [...document.querySelectorAll("td .value > data, td .interval")].filter(e => {
        const own = e.getBoundingClientRect(), cell = e.closest("td").getBoundingClientRect();
        return own.width && (own.left < cell.left - 1 || own.right > cell.right + 1);
      }).map(name),
      empty: [...document.querySelectorAll("main section")].filter(e => e.offsetHeight < 40).map(name),
      figures: figures.length,
      blank: figures.filter(e => e.getBoundingClientRect().height < 40).length,
      boxes: [...document.querySelectorAll("#verdict")].map(e => e.parentElement.tagName),
      cut: [...document.querySelectorAll("#verdict, #verdict *")]
        .filter(e => beyond(e) || e.offsetHeight === 0 || e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(name),
    };
  },

  // Each text of a chart: its size on the screen in pixels, how far it leaves its figure, its contrast with the page.
  charts: () => {
    const brightness = colour => {
      const [red, green, blue] = colour.match(/[\d.]+/g).map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const paper = brightness(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll("svg text")].map(e => {
      const style = getComputedStyle(e), matrix = e.getScreenCTM(), ink = brightness(style.fill);
      const box = e.getBoundingClientRect(), around = e.closest("figure, .dots").getBoundingClientRect();
      return {
        text: e.textContent,
        size: parseFloat(style.fontSize) * Math.hypot(matrix.a, matrix.b),
        beyond: Math.max(around.left - box.left, box.right - around.right),
        contrast: (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05),
      };
    });
  },

  // What a page that stands alone is without, and the fonts that it brings.
  alone: () => ({
    outside: document.querySelectorAll("script[src], iframe, object, embed, link, base, form").length,
    handlers: [...document.querySelectorAll("*")].flatMap(e => e.getAttributeNames()).filter(name => /^on/.test(name)),
    // A link leads to a place of the page, or to what people cite: then it says nothing of where it came from.
    lost: [...document.links].filter(a => !document.getElementById(a.hash.slice(1))
      && !(/^(https?|mailto):/.test(a.href) && a.rel === "noopener noreferrer")).map(a => a.href),
    fonts: [...document.fonts].map(face => `${face.family.replaceAll('"', "")} ${face.weight} ${face.status}`),
  }),
})
