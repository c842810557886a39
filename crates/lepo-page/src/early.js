
(function () {
  var root = document.documentElement, theme = null;
  try { theme = localStorage.getItem("lepo-theme"); } catch (e) {}
  root.className = "js";
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();
