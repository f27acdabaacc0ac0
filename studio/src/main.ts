import { mount } from "svelte";
import App from "./App.svelte";
import { claim } from "./state/slot";

const target = document.getElementById("app");
if (!target) throw new Error("the page has no #app");
void claim().then((store) => mount(App, { target, props: { store } }));
