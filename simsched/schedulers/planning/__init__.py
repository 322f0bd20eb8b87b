"""Plans made before time 0, from estimates: who runs where and when; the engine then says what becomes of them."""
