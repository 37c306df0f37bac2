"""What makes things go wrong: a TCP proxy with moods, and engines that can be killed, frozen and cut off."""
