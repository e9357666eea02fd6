// Shows the page of one component in React; `Held` holds a value for a component that holds none itself.
(() => {
  const { React, ReactDOM, pages, said } = globalThis;
  const hold = ({ start, children }) => {
    const [value, setValue] = React.useState(start);
    return children(value, (next) => {
      said(next);
      setValue(next);
    });
  };
  globalThis.Held = hold;
  const app = document.getElementById("app");
  ReactDOM.createRoot(app).render(React.createElement(pages[app.dataset.component]));
})();
