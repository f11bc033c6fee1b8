"use strict";
for (const chart of document.querySelectorAll(".chart")) {
  const points = JSON.parse(chart.dataset.points);
  const cursor = chart.querySelector(".cursor");
  const tip = chart.querySelector(".tip");
  const number = new Intl.NumberFormat("en");
  let at = -1;
  const show = (index) => {
    at = Math.max(0, Math.min(points.length - 1, index));
    const [turn, time, before, after] = points[at];
    const part = points.length > 1 ? at / (points.length - 1) : 0;
    cursor.setAttribute("x1", `${part * 100}%`);
    cursor.setAttribute("x2", `${part * 100}%`);
    cursor.removeAttribute("visibility");
    const sizes = [before, after].map((size) => number.format(size).padStart(11));
    tip.textContent = `turn ${turn}  ${time}\nas it was      ${sizes[0]}\nwith afterturn ${sizes[1]}`;
    tip.hidden = false;
    const room = chart.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, part * chart.clientWidth + (part < 0.5 ? 12 : -12 - tip.offsetWidth)))}px`;
  };
  const hide = () => {
    tip.hidden = true;
    cursor.setAttribute("visibility", "hidden");
  };
  const follow = (event) => {
    const box = chart.getBoundingClientRect();
    show(Math.round(((event.clientX - box.left) / box.width) * (points.length - 1)));
  };
  chart.addEventListener("pointermove", follow);
  chart.addEventListener("pointerdown", follow);
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      event.preventDefault();
      show(at + step);
    }
  });
}
