"""A tool that is a program: arguments as JSON on stdin, the result as JSON on stdout.

The figures are made up and always the same. A city that is not in the table ends the program with
status 1 and one line on stderr, which is what the model gets to read.
"""

import json
import sys

# Degrees Celsius and the sky.
CITIES = {
    "Amsterdam": (9, "rainy"),
    "Athens": (18, "sunny"),
    "Auckland": (17, "windy"),
    "Bangkok": (32, "humid"),
    "Barcelona": (16, "sunny"),
    "Beijing": (4, "hazy"),
    "Berlin": (5, "cloudy"),
    "Bogota": (14, "rainy"),
    "Brussels": (8, "drizzly"),
    "Budapest": (6, "foggy"),
    "Buenos Aires": (24, "sunny"),
    "Cairo": (29, "sunny"),
    "Cape Town": (22, "windy"),
    "Chicago": (1, "windy"),
    "Copenhagen": (7, "cloudy"),
    "Delhi": (21, "hazy"),
    "Dubai": (31, "sunny"),
    "Dublin": (10, "rainy"),
    "Helsinki": (-2, "snowy"),
    "Hong Kong": (23, "clear"),
    "Istanbul": (13, "cloudy"),
    "Jakarta": (30, "stormy"),
    "Johannesburg": (25, "sunny"),
    "Lagos": (33, "humid"),
    "Lima": (19, "foggy"),
    "Lisbon": (17, "sunny"),
    "London": (11, "drizzly"),
    "Los Angeles": (20, "sunny"),
    "Madrid": (12, "clear"),
    "Melbourne": (21, "cloudy"),
    "Mexico City": (22, "clear"),
    "Montreal": (-4, "snowy"),
    "Moscow": (-6, "snowy"),
    "Mumbai": (30, "sunny"),
    "Nairobi": (23, "cloudy"),
    "New York": (8, "clear"),
    "Oslo": (-3, "snowy"),
    "Paris": (10, "cloudy"),
    "Prague": (4, "foggy"),
    "Reykjavik": (2, "stormy"),
    "Rome": (15, "sunny"),
    "San Francisco": (16, "foggy"),
    "Santiago": (26, "sunny"),
    "Sao Paulo": (27, "stormy"),
    "Seoul": (6, "clear"),
    "Singapore": (31, "stormy"),
    "Stockholm": (0, "snowy"),
    "Sydney": (24, "sunny"),
    "Tokyo": (14, "clear"),
    "Toronto": (3, "cloudy"),
    "Vienna": (6, "cloudy"),
    "Warsaw": (3, "snowy"),
    "Zurich": (5, "foggy"),
}


def main():
    arguments = json.load(sys.stdin)
    # "Oslo, Norway" is Oslo.
    wanted = arguments["city"].split(",")[0].strip().casefold()
    unit = arguments.get("unit", "celsius")
    for city, (celsius, sky) in CITIES.items():
        if city.casefold() == wanted:
            temperature = celsius if unit == "celsius" else round(celsius * 9 / 5 + 32)
            json.dump({"city": city, "temperature": temperature, "unit": unit, "sky": sky}, sys.stdout)
            return
    sys.exit(f"there is no weather station in {arguments['city']}")


if __name__ == "__main__":
    main()
