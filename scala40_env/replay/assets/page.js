"use strict";
(() => {
  // Whatever comes from the record is made a text node or an attribute, never markup.
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const RANKS = { A: "ace", T: "ten", J: "jack", Q: "queen", K: "king" };
  const SUITS = {
    H: { sign: "♥\uFE0E", name: "hearts", color: "red" },
    D: { sign: "♦\uFE0E", name: "diamonds", color: "red" },
    C: { sign: "♣\uFE0E", name: "clubs", color: "black" },
    S: { sign: "♠\uFE0E", name: "spades", color: "black" },
  };

  const states = [];
  for (const change of data.frames) states.push({ ...(states[states.length - 1] || {}), ...change });
  const last = states.length - 1;
  const seats = data.names.map((_, seat) => seat);
  const nearest = data.viewer ?? data.open[0] ?? 0;
  const open = new Set(data.viewer === null ? data.open : [data.viewer]);
  const turns = turnsOf(states);
  let place = 0;

  function make(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) if (value !== null) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  // --- cards ---

  const rankOf = (text) => (text[0] === "T" ? "10" : text[0]);
  const nameOf = (text) => `${RANKS[text[0]] || text[0]} of ${SUITS[text[1]].name}`;

  function card(text, fresh) {
    const classes = ["card"];
    if (fresh) classes.push("fresh");
    if (text.startsWith("JK")) {
      const face = text.slice(3);
      const name = face ? `joker as ${nameOf(face)}` : "joker";
      // what it stands for is in the left strip, which stays in sight under the next card
      const stands = face
        ? make("span", { class: `suit face ${SUITS[face[1]].color}` }, rankOf(face), SUITS[face[1]].sign)
        : make("span", { class: "suit" }, "J");
      return make("span", { class: [...classes, "joker"].join(" "), role: "img", "aria-label": name, title: name },
        make("span", { class: "rank" }, "★"), stands, make("span", { class: "pip" }, "★"));
    }
    const suit = SUITS[text[1]];
    return make("span", { class: [...classes, suit.color].join(" "), role: "img", "aria-label": nameOf(text), title: nameOf(text) },
      make("span", { class: "rank" }, rankOf(text)), make("span", { class: "suit" }, suit.sign),
      make("span", { class: "pip" }, suit.sign));
  }

  const back = () => make("span", { class: "card back", "aria-hidden": "true" });

  /** Which of the cards were not there before: true or false for each. */
  function freshOf(now, before) {
    const left = [...before];
    return now.map((text) => {
      const found = left.indexOf(text);
      if (found >= 0) left.splice(found, 1);
      return found < 0;
    });
  }

  /** An action or a note with its cards as signs. */
  function prose(text) {
    return text.split(" ").flatMap((word, i) => {
      const space = i ? [" "] : [];
      const match = /^(JK=)?([A2-9TJQK][HDCS])$/.exec(word);
      if (!match) return [...space, word === "JK" ? "★" : word];
      const suit = SUITS[match[2][1]];
      const sign = (match[1] ? "★=" : "") + rankOf(match[2]) + suit.sign;
      const label = (match[1] ? "joker as " : "") + nameOf(match[2]);
      return [...space, make("span", { class: `text ${suit.color}`, role: "img", "aria-label": label }, sign)];
    });
  }

  // --- seats ---

  const label = (seat) => `seat ${seat}${data.names[seat] ? ` · ${data.names[seat]}` : ""}`;
  const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const canOpen = () => data.viewer === null;

  function handOf(state, before, seat) {
    const shown = open.has(seat) ? state[`hand${seat}`] : state[`known${seat}`];
    const was = !before || before.round !== state.round ? shown : open.has(seat) ? before[`hand${seat}`] : before[`known${seat}`];
    const fresh = freshOf(shown, was);
    const hidden = state.size[seat] - shown.length;
    const hint = hidden ? count(hidden, "hidden card") : null;
    return make("div", { class: "cards", role: "group", "aria-label": ["hand of " + label(seat), hint].filter(Boolean).join(", ") },
      ...shown.map((text, i) => card(text, fresh[i])), ...Array.from({ length: hidden }, back));
  }

  function seatOf(state, before, seat) {
    const there = state.in[seat];
    const acting = state.seat === seat && (state.phase === "draw" || state.phase === "play");
    const badges = [
      acting ? make("span", { class: "badge" }, "to act") : null,
      state.dealer === seat ? make("span", { class: "badge" }, "dealer") : null,
      state.opened[seat] ? make("span", { class: "badge opened" }, "opened") : null,
      there ? null : make("span", { class: "badge" }, "out of the match"),
      make("span", { class: "points" }, `${count(state.size[seat], "card")} · ${count(state.totals[seat], "point")}`),
    ];
    const button = canOpen()
      ? make("button", { type: "button", "data-seat": seat, class: open.has(seat) ? "shown" : null,
          "aria-label": `${open.has(seat) ? "hide" : "show"} the hand of ${label(seat)}`, title: `key ${seat}` },
          open.has(seat) ? "hide hand" : "show hand")
      : null;
    if (button) button.addEventListener("click", () => toggle(seat));
    return make("section", { class: `seat${acting ? " acting" : ""}${there ? "" : " gone"}`, id: `seat${seat}`, "aria-label": label(seat) },
      make("div", { class: "who" }, make("h2", { title: label(seat) }, label(seat)), ...badges, button), handOf(state, before, seat));
  }

  function toggle(seat) {
    if (!canOpen() || !(seat in seats)) return;
    if (!open.delete(seat)) open.add(seat);
    show(place);
    document.querySelector(`button[data-seat="${seat}"]`).focus();
  }

  // --- the table ---

  function pile(title, top, size) {
    return make("div", { class: "pile", role: "group", "aria-label": `${title}, ${count(size, "card")}` }, top, make("span", {}, `${title} ${size}`));
  }

  function melds(state, before) {
    const was = new Map((before && before.round === state.round ? before.table : []).map(([slot, , cards]) => [slot, cards]));
    return state.table.map(([slot, isNew, cards]) => {
      const fresh = freshOf(cards, was.get(slot) || []);
      const group = make("div", { class: "cards" }, ...cards.map((text, i) => card(text, before && fresh[i])));
      return make("div", { class: `meld${isNew ? " new" : ""}`, role: "group", "aria-label": `meld in slot ${slot}` },
        group, make("span", { class: "slot" }, `@${slot}`));
    });
  }

  function thoughtOf(thought) {
    if (thought === null || thought === undefined) return [];
    if (typeof thought === "string") return [thought];
    const entries = Object.entries(thought).flatMap(([name, value]) => [
      make("dt", {}, name), make("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
    ]);
    return [make("dl", {}, ...entries)];
  }

  // --- steps ---

  function turnsOf(all) {
    const found = [];
    for (let i = 1; i < all.length; i++) {
      const { seat, text, first } = all[i].move;
      // a turn is of the round in which it began
      if (first || !found.length) found.push({ frame: i, seat, round: all[i - 1].round, turn: all[i - 1].turn, moves: [] });
      found[found.length - 1].moves.push(text);
    }
    return found;
  }

  function turnAt(i) {
    let low = -1;
    for (let high = turns.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (turns[middle].frame <= i) low = middle;
      else high = middle;
    }
    return low;
  }

  function captionOf(state, i) {
    if (!state.move) return [last ? "The cards are dealt." : "Nothing was played."];
    const turn = turns[turnAt(i)];
    return [`Round ${turn.round}, turn ${turn.turn}. ${label(state.move.seat)}: `, ...prose(state.move.text)];
  }

  function show(i) {
    place = Math.max(0, Math.min(last, i));
    const state = states[place];
    const before = place ? states[place - 1] : null;
    const order = seats.map((step) => (nearest + step) % seats.length);
    $("nearest").replaceChildren(seatOf(state, before, nearest));
    $("others").replaceChildren(...order.slice(1).map((seat) => seatOf(state, before, seat)));
    const upFresh = before && before.round === state.round && state.move.text.startsWith("discard");
    $("piles").replaceChildren(
      pile("stock", state.stock ? back() : make("span", { class: "card empty" }), state.stock),
      pile("pile", state.upcard ? card(state.upcard, upFresh) : make("span", { class: "card empty" }), state.pile),
    );
    const lying = melds(state, before);
    $("melds").replaceChildren(...(lying.length ? lying : [make("span", { class: "nothing" }, "no melds yet")]));
    $("caption").replaceChildren(...captionOf(state, place));
    $("notes").replaceChildren(...state.notes.map((line) => make("p", {}, ...prose(line))));
    $("thought").replaceChildren(...(state.move && open.has(state.move.seat) ? thoughtOf(state.thought) : []));
    $("place").textContent = `${place} / ${last}`;
    $("slider").value = place;
    $("slider").setAttribute("aria-valuetext", `step ${place} of ${last}`);
    for (const id of ["start", "turn-back", "back"]) $(id).disabled = place === 0;
    for (const id of ["on", "turn-on", "end"]) $(id).disabled = place === last;
    markTurn(turnAt(place));
    try { history.replaceState(null, "", `#${place}`); } catch { /* a page that may not change its address still steps */ }
  }

  function markTurn(which) {
    const list = document.querySelector("#turns ol");
    for (const button of list.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    if (which < 0) return;
    const button = list.querySelector(`[data-turn="${which}"]`);
    button.setAttribute("aria-current", "true");
    const item = button.parentElement;
    if (item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = item.offsetTop - list.clientHeight / 2;
    }
  }

  function turnStep(way) {
    const now = turnAt(place);
    if (way > 0) return now + 1 < turns.length ? turns[now + 1].frame : last;
    if (now < 0) return 0;
    if (place > turns[now].frame) return turns[now].frame;
    return now > 0 ? turns[now - 1].frame : 0;
  }

  function listTurns() {
    const items = [];
    turns.forEach(({ frame, seat, round, turn, moves }, i) => {
      if (!i || turns[i - 1].round !== round) items.push(make("li", { class: "round" }, `Round ${round}`));
      const button = make("button", { type: "button", "data-turn": i },
        make("span", { class: "head" }, `${turn} · ${label(seat)}`),
        ...moves.flatMap((text, k) => [k ? ", " : "", ...prose(text)]));
      button.addEventListener("click", () => show(frame));
      items.push(make("li", {}, button));
    });
    document.querySelector("#turns ol").replaceChildren(...items);
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === $("slider")) return;
    const places = { ArrowRight: event.shiftKey ? turnStep(1) : place + 1, ArrowLeft: event.shiftKey ? turnStep(-1) : place - 1, Home: 0, End: last };
    if (event.key in places) {
      show(places[event.key]);
      event.preventDefault();
    } else if (/^\d$/.test(event.key)) toggle(Number(event.key));
  }

  const fromAddress = () => (/^#\d{1,9}$/.test(location.hash) ? Number(location.hash.slice(1)) : 0);

  $("about").textContent = data.about;
  $("slider").max = last;
  $("slider").addEventListener("input", () => show(Number($("slider").value)));
  $("start").addEventListener("click", () => show(0));
  $("end").addEventListener("click", () => show(last));
  $("back").addEventListener("click", () => show(place - 1));
  $("on").addEventListener("click", () => show(place + 1));
  $("turn-back").addEventListener("click", () => show(turnStep(-1)));
  $("turn-on").addEventListener("click", () => show(turnStep(1)));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => show(fromAddress()));
  listTurns();
  show(fromAddress());
})();
