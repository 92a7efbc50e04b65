setInterval(async () => {
  if (document.hidden || String(getSelection()) !== "") return;
  const status = document.querySelector(".pill");
  try {
    const response = await fetch(location.pathname);
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of ["header", "main"]) {
      const [now, then] = [document.querySelector(part), next.querySelector(part)];
      if (now && then && now.innerHTML !== then.innerHTML) now.replaceWith(then);
    }
  } catch {
    status.textContent = "not reachable";
    status.className = "pill bad";
  }
}, 2000);
