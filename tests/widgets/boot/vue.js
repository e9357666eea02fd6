// Shows the page of one component in Vue, with the kit that is loaded.
(() => {
  const { Quasar, Vue, Vuetify, said } = globalThis;
  const { template, data } = JSON.parse(document.getElementById("page").textContent);
  const shown = Vuetify ? `<v-app><div class="pa-4">${template}</div></v-app>` : template;
  const app = Vue.createApp({ template: shown, data: () => data, methods: { said } });
  if (Vuetify) app.use(Vuetify.createVuetify());
  if (Quasar) app.use(Quasar);
  app.mount("#app");
})();
