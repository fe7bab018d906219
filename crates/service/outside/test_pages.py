"""The pages in a real browser, as people use them: by mouse, by keyboard, and on a phone."""

import unittest

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from serving import HOSTILE, TOKEN, Folder, Server, words

SECONDS = 30


def browser():
    options = webdriver.ChromeOptions()
    for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"]:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(SECONDS)
    driver.set_script_timeout(SECONDS)
    return driver


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.addClassCleanup(cls.folder.close)
        cls.driver = browser()
        cls.addClassCleanup(cls.driver.quit)

    def tearDown(self):
        # Whatever a test did, no script of a document ran and nothing went wrong in the browser.
        with self.assertRaises(NoAlertPresentException):
            self.driver.switch_to.alert.accept()
        lines = [line for line in self.driver.get_log("browser") if line["level"] in ("WARNING", "SEVERE")]
        said = [line for line in lines if "401 (Unauthorized)" not in line["message"]]
        self.assertEqual(said, [])

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def link(self, text):
        return self.driver.find_element(By.LINK_TEXT, text)

    def heading(self):
        return self.find("h1").text

    def follow(self, element):
        """Presses a link or a button, and waits for the page behind it."""
        self.leave(element.click)

    def enter(self, field, words):
        """Types words and Enter, and waits for the page behind it."""
        self.leave(lambda: field.send_keys(words + Keys.ENTER))

    def leave(self, act):
        """Acts, and waits until another page stands there, whole.

        The page that is left carries a mark. To ask an element of it whether it is still there is no way: between
        two pages the driver answers that with errors of several kinds.
        """
        self.driver.execute_script("window.left = true")
        act()
        arrived = "return !window.left && document.readyState === 'complete'"
        wait = WebDriverWait(self.driver, SECONDS, ignored_exceptions=[WebDriverException])
        wait.until(lambda driver: driver.execute_script(arrived))

    def text(self):
        return self.find("body").text

    def test_a_job_is_looked_through(self):
        with Server(self.folder.job) as server:
            self.driver.get(server.address)
            self.assertEqual(self.heading(), "Job job")
            self.assertIn("Of 260 documents, 130 are kept", self.text())
            self.assertEqual(len(self.all("svg[role=img]")), 2)
            self.find("#search").send_keys("page-12-")
            self.follow(self.find(".search button"))
            self.assertEqual(self.heading(), "Clusters")
            self.assertEqual([row.text for row in self.all("tbody th")], ["page-12"])
            self.follow(self.link("page-12"))
            self.assertEqual(self.heading(), "Cluster of page-12")
            self.assertEqual([row.text for row in self.all("tbody th")], ["page-12", "page-12-copy"])
            self.follow(self.link("with the kept one"))
            self.assertIn("equal words in equal order", self.text())
            self.assertEqual(self.all("del, ins"), [])

    def test_differences_are_marked_with_their_place(self):
        with Server(self.folder.job) as server:
            self.driver.get(f"{server.address}/clusters?search=page-13-copy")
            self.follow(self.link("page-13"))
            self.follow(self.link("with the kept one"))
            self.assertEqual(self.all("del")[0].text, "word13x0")
            self.assertEqual(self.all("ins")[0].text, "edit0")
            self.assertIn("0 to 8", self.all("td.place")[0].text)
            self.follow(self.link("Show all words"))
            self.assertEqual(self.all(".folded"), [])
            self.follow(self.link("Show the differences only"))
            self.assertNotEqual(self.all(".folded"), [])

    def test_lists_are_sorted_and_come_in_parts(self):
        with Server(self.folder.job) as server:
            self.driver.get(f"{server.address}/clusters")
            self.assertIn("1 to 50 of 130 clusters", self.text())
            self.follow(self.find("a[rel=next]"))
            self.assertIn("51 to 100 of 130 clusters", self.text())
            self.follow(self.find("a[rel=next]"))
            self.assertIn("101 to 130 of 130 clusters", self.text())
            self.assertEqual(self.all("a[rel=next]"), [])
            Select(self.find("#sort")).select_by_value("similarity")
            Select(self.find("#order")).select_by_value("descending")
            self.follow(self.find(".search button"))
            self.assertIn("1.00", self.all("tbody tr")[0].text)

    def test_hostile_documents_are_text(self):
        for source in [self.folder.job, self.folder.index]:
            with Server(source) as server:
                for address in ["/clusters", "/clusters/0", "/documents/0", "/compare?a=0&b=1", "/compare?a=0&b=1&all=1"]:
                    self.driver.get(server.address + address)
                    self.assertIn("<b>hostile0", self.text())
                    self.assertEqual(self.all("b, i, script"), [])
                self.driver.get(f"{server.address}/documents/1")
                self.assertIn(HOSTILE, self.find(".text").text)
                self.assertIn("https://example.org/?<i>", self.text())

    def test_a_text_is_pasted(self):
        with Server(self.folder.index) as server:
            self.driver.get(server.address)
            self.assertEqual(self.heading(), "Index index")
            self.follow(self.link("Ask"))
            # By script: typing two thousand letters takes its time.
            pasted = f"{HOSTILE} {words(8)} and more"
            self.driver.execute_script("arguments[0].value = arguments[1]", self.find("textarea"), pasted)
            self.follow(self.find("main form button"))
            self.assertIn("Of 2 documents.", self.text())
            self.assertEqual(self.find("textarea").get_property("value"), pasted)
            self.assertEqual([row.text for row in self.all("tbody th")], ["page-8", "page-8-copy"])
            self.follow(self.all("td button")[0])
            self.assertEqual(self.heading(), "Two documents")
            self.assertEqual([mark.text for mark in self.all("del")], ["<script>alert(1)</script>", "and more"])
            self.driver.get(f"{server.address}/ask")
            self.find("textarea").send_keys("nothing like it")
            self.follow(self.find("main form button"))
            self.assertIn("nothing in the index is like it", self.text())

    def test_a_token_opens_the_door(self):
        with Server(self.folder.index, "--token-file", self.folder.tokens) as server:
            self.driver.get(f"{server.address}/clusters")
            self.assertEqual(self.heading(), "Log in")
            self.find("#token").send_keys("not-the-token-at-all")
            self.follow(self.find("main button"))
            self.assertIn("not among those of the service", self.text())
            self.enter(self.find("#token"), TOKEN)
            # Back to where the door was.
            self.assertEqual(self.heading(), "Clusters")
            cookie = self.driver.get_cookie("lookalike")
            self.assertTrue(cookie["httpOnly"])
            self.assertEqual(cookie["sameSite"], "Strict")
            self.follow(self.link("Ask"))
            self.find("textarea").send_keys(words(3)[:40])
            self.follow(self.find("main form button"))
            self.assertIn("nothing in the index is like it", self.text())
            self.follow(self.driver.find_element(By.XPATH, "//button[text()='Log out']"))
            self.assertEqual(self.heading(), "Log in")
            self.driver.get(server.address)
            self.assertEqual(self.heading(), "Log in")

    def test_the_keyboard_is_enough(self):
        with Server(self.folder.job) as server:
            self.driver.get(f"{server.address}/clusters")
            self.press(Keys.TAB)
            self.assertEqual(self.driver.switch_to.active_element.text, "Skip to the content")
            for _ in range(20):
                self.press(Keys.TAB)
                if self.driver.switch_to.active_element.get_attribute("id") == "search":
                    break
            here = self.driver.switch_to.active_element
            self.assertEqual(here.get_attribute("id"), "search")
            self.assertNotEqual(here.value_of_css_property("outline-style"), "none")
            self.enter(here, "page-5-")
            self.assertEqual([row.text for row in self.all("tbody th")], ["page-5"])

    def press(self, key):
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def test_a_phone_needs_no_scrolling_sideways(self):
        phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        with Server(self.folder.index) as server:
            for address in ["/", "/clusters", "/clusters/0", "/documents/0", "/compare?a=0&b=1", "/ask", "/login"]:
                self.driver.get(server.address + address)
                width = self.driver.execute_script("return document.documentElement.scrollWidth")
                self.assertLessEqual(width, 360, address)


if __name__ == "__main__":
    unittest.main()
